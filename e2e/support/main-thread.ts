import type { Browser, Page } from 'playwright/test';

export interface ThreadTask {
  /** Wall time in ms, which includes the time that other threads took the cores. */
  readonly wallMs: number;
  /** CPU time of the thread in this period, ms. */
  readonly cpuMs: number;
}

/** As the browser's tracing writes it; durations in microseconds. */
interface TraceEvent {
  readonly name: string;
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  readonly dur?: number;
  readonly tdur?: number;
  readonly args: { readonly name?: string };
}

/** Does the work, and returns the tasks of the page's own thread meanwhile: the busiest thread of all pages. */
export async function traceMainThread<Result>(
  browser: Browser,
  page: Page,
  work: () => Promise<Result>,
): Promise<{ readonly result: Result; readonly tasks: readonly ThreadTask[] }> {
  await browser.startTracing(page, { categories: ['toplevel'] });
  const result = await work();
  const trace = await browser.stopTracing();
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the browser's own format
  const { traceEvents } = JSON.parse(trace.toString()) as { readonly traceEvents: readonly TraceEvent[] };
  const mainThreads = traceEvents
    .filter(({ ph, name, args }) => ph === 'M' && name === 'thread_name' && args.name === 'CrRendererMain')
    .map(({ pid, tid }) => tasksOf(traceEvents, pid, tid));
  const [busiest] = mainThreads.toSorted((a, b) => cpuOf(b) - cpuOf(a));
  if (!busiest || cpuOf(busiest) === 0) throw new Error('The trace has no task of a page.');
  return { result, tasks: busiest };
}

function tasksOf(events: readonly TraceEvent[], pid: number, tid: number): readonly ThreadTask[] {
  return events
    .filter((event) => event.pid === pid && event.tid === tid && event.name.endsWith('RunTask'))
    .map(({ dur = 0, tdur = 0 }) => ({ wallMs: dur / 1000, cpuMs: tdur / 1000 }));
}

function cpuOf(tasks: readonly ThreadTask[]): number {
  return tasks.reduce((sum, { cpuMs }) => sum + cpuMs, 0);
}
