import { expect, test } from 'vitest';

import { cpuMsBetweenMarks, type TraceEvent } from './worker-cpu.ts';

/** Events as Chromium 156 writes them. */
const BEGIN: TraceEvent = { name: 'tabserve-bench-begin', pid: 23_022, tid: 23_055, tts: 7162 };
const END: TraceEvent = { name: 'tabserve-bench-end', pid: 23_022, tid: 23_055, tts: 285_255 };
const OTHER: TraceEvent = { name: 'domComplete', pid: 23_012, tid: 23_012 };

test('CPU time is what the thread took from one mark to the other, in ms', () => {
  expect(cpuMsBetweenMarks([OTHER, END, BEGIN])).toBeCloseTo(278.093, 9);
});

test('a trace without thread times is refused', () => {
  const { tts: _, ...timeless } = END;
  expect(() => cpuMsBetweenMarks([BEGIN, timeless])).toThrow('no CPU time of the thread');
});

test('marks of two threads are refused: a new worker has another clock', () => {
  expect(() => cpuMsBetweenMarks([BEGIN, { ...END, tid: 9 }])).toThrow('two threads');
  expect(() => cpuMsBetweenMarks([BEGIN, { ...END, pid: 9 }])).toThrow('two threads');
});

test('each mark is there once', () => {
  expect(() => cpuMsBetweenMarks([BEGIN, OTHER])).toThrow('Expected one mark `tabserve-bench-end`');
  expect(() => cpuMsBetweenMarks([BEGIN, END, BEGIN])).toThrow('`tabserve-bench-begin` in the trace, got 2');
});
