import type { Job } from '../../../src/client/index.ts';

export interface RowsPlan {
  readonly template: string;
  readonly rows: readonly Readonly<Record<'thing' | 'number', string>>[];
  readonly maxNewTokens: number;
  readonly prefixCaching: boolean;
}

/** Runs in the page, sent there as text. Stores the rows, then measures their run. */
export async function runJob({ template, rows, maxNewTokens, prefixCaching }: RowsPlan) {
  const { tabserve } = window;
  await tabserve.configure('text-generator', { prefixCaching });
  const job = await tabserve.jobs.create({
    rows,
    template,
    seed: 1,
    options: { maxNewTokens, ignoreEos: true },
  });
  let numTasks = 0;
  const observer = new PerformanceObserver((list) => void (numTasks += list.getEntries().length));
  observer.observe({ type: 'longtask' });
  const startMs = performance.now();
  const { finished } = job.info.counts;
  await job.done();
  const seconds = (performance.now() - startMs) / 1000;
  observer.disconnect();
  await job.delete();
  await tabserve.configure('text-generator', { prefixCaching: true });
  return { 'rows/s': (rows.length - finished) / seconds, 'tasks of the page over 50 ms': numTasks };
}

/** Runs in the page, sent there as text. Keeps as many requests of the same texts running as there are slots. */
export async function runClosedLoop({ template, rows, maxNewTokens }: RowsPlan): Promise<number> {
  const { tabserve } = window;
  const startMs = performance.now();
  const waiting = rows.entries();
  const client = async (): Promise<void> => {
    for (const [index, { thing, number }] of waiting) {
      const prompt = template.replace('{{thing}}', thing).replace('{{number}}', number);
      await tabserve.generate(prompt, { seed: 1 + index, maxNewTokens, ignoreEos: true });
    }
  };
  await Promise.all(Array.from({ length: tabserve.status().policy.maxBatchSize }, client));
  return (rows.length * 1000) / (performance.now() - startMs);
}

/** Runs in the page, sent there as text. Sends one prompt after another, beside a job of this template if there is one. */
export async function timeFirstTokens([numPrompts, template]: readonly [number, string | undefined]) {
  const { tabserve } = window;
  const [inWorker, inPage, steps] = [new Array<number>(), new Array<number>(), new Array<number>()];
  let job: Job | undefined;
  if (template !== undefined) {
    const rows = Array.from({ length: 5000 }, (_, index) => ({ number: String(index), thing: 'fox' }));
    job = await tabserve.jobs.create({ rows, template, options: { maxNewTokens: 64, ignoreEos: true } });
  }
  const unsubscribe = tabserve.subscribe('stats', (stats) => {
    for (const { stepMs } of stats.steps) steps.push(stepMs);
  });
  for (let index = 0; index < numPrompts; index += 1) {
    // The job is in the middle of its steps.
    await new Promise((resolve) => setTimeout(resolve, 20 + 17 * (index % 7)));
    const prompt = `Prompt ${index}: one day, a boy went to the sea and`;
    const sentAtMs = performance.now();
    const response = tabserve.generate(prompt, { maxNewTokens: 2 });
    await response[Symbol.asyncIterator]().next();
    inPage.push(performance.now() - sentAtMs);
    inWorker.push((await response.result()).timings.ttftMs);
  }
  unsubscribe();
  await job?.delete();
  return { 'TTFT in the worker': inWorker, 'TTFT in the page': inPage, 'a step meanwhile': steps };
}
