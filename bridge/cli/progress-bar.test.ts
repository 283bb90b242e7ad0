import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import { ProgressBar } from './progress-bar.ts';

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

function collect(isTTY: boolean) {
  let text = '';
  return { bar: new ProgressBar({ isTTY, write: (more: string) => (text += more) }), read: () => text };
}

const load = (loaded: number) => ({
  load: {
    id: 'a/b',
    isPaused: false,
    phase: 'download' as const,
    loaded,
    total: 200e6,
    fraction: 0.4,
    bytesPerSecond: 5e6,
    secondsLeft: 19.2,
  },
});

it('a terminal has one line that changes, and none once it is cleared', () => {
  const { bar, read } = collect(true);
  bar.show(load(50e6));
  bar.show(load(104e6));
  expect(read()).not.toContain('\n');
  expect(read().split('\u001B[2K').at(-1)).toBe(
    'download [############------------] 52 % of 200.0 MB, 5.0 MB/s, 20 s left',
  );
  bar.clear();
  expect(read().endsWith('\r\u001B[2K')).toBe(true);
});

it('a pipe has a line for each tenth, without control characters', () => {
  const { bar, read } = collect(false);
  for (let percent = 0; percent <= 100; percent += 1) {
    bar.show(load(percent * 2e6));
    vi.advanceTimersByTime(200);
  }
  bar.clear();
  expect(read().match(/\n/g)).toHaveLength(11);
  expect(read()).not.toContain('\r');
  expect(read()).not.toContain('\u001B');
});

it('a pipe has few lines about a load that is fast', () => {
  const { bar, read } = collect(false);
  for (let percent = 0; percent <= 100; percent += 1) {
    bar.show(load(percent * 2e6));
    vi.advanceTimersByTime(15);
  }
  expect(read().match(/\n/g)).toHaveLength(2);
});

it('says nothing while the size of a phase is not known', () => {
  const { bar, read } = collect(false);
  bar.show({ progress: { phase: 'prepare', loaded: 1, total: 0, fraction: 0.4 } });
  bar.show({});
  expect(read()).toBe('');
  bar.show({ progress: { phase: 'compile', loaded: 1, total: 4, fraction: 0.4 } });
  expect(read()).toBe('compile [######------------------] 25 %\n');
});
