import type { Browser, Worker } from 'playwright';

/** An event of Chromium's trace: https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU */
export interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  /** CPU time of the thread so far, in µs. */
  readonly tts?: number;
}

const BEGIN = 'tabserve-bench-begin';
const END = 'tabserve-bench-end';

/** Traces only the marks of all threads, each with its thread's CPU time at that moment. */
const CATEGORIES = ['blink.user_timing'];

/**
 * Calls `run`. Returns its result, and the CPU time in ms that the worker's own thread took. Not reentrant: a browser has one
 * trace.
 */
export async function withWorkerCpu<Result>(
  browser: Browser,
  worker: Worker,
  run: () => Promise<Result>,
): Promise<{ readonly result: Result; readonly cpuMs: number }> {
  await browser.startTracing(undefined, { categories: CATEGORIES });
  let trace: Buffer;
  let result: Result;
  try {
    await worker.evaluate(mark, BEGIN);
    result = await run();
    await worker.evaluate(mark, END);
  } finally {
    trace = await browser.stopTracing();
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the format of Chromium's traces
  const { traceEvents } = JSON.parse(trace.toString()) as { readonly traceEvents: readonly TraceEvent[] };
  return { result, cpuMs: cpuMsBetweenMarks(traceEvents) };
}

export function cpuMsBetweenMarks(events: readonly TraceEvent[]): number {
  const [begin, end] = [findMark(events, BEGIN), findMark(events, END)];
  if (begin.pid !== end.pid || begin.tid !== end.tid) {
    throw new Error('The marks are of two threads: measure again, the worker was replaced meanwhile');
  }
  return (end.tts - begin.tts) / 1000;
}

function findMark(events: readonly TraceEvent[], name: string): Required<TraceEvent> {
  const [event, ...others] = events.filter((candidate) => candidate.name === name);
  if (!event || others.length > 0) {
    throw new Error(`Expected one mark \`${name}\` in the trace, got ${event ? 1 + others.length : 0}`);
  }
  const { tts } = event;
  if (tts === undefined) throw new Error(`The trace has no CPU time of the thread at \`${name}\``);
  return { ...event, tts };
}

/** Runs in the worker. */
function mark(name: string): void {
  performance.mark(name);
}
