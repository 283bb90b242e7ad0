import type { Job } from '../../../src/client/index.ts';

/** Rows for a job, or for requests of the same texts. */
export interface RowsPlan {
  readonly template: string;
  readonly numRows: number;
  readonly maxNewTokens: number;
  readonly prefixCaching: boolean;
}

/** Runs in the page, sent there as text. Stores the rows, then measures their run. */
export async function runJob({ template, numRows, maxNewTokens, prefixCaching }: RowsPlan) {
  const { tabserve } = window;
  await tabserve.configure('text-generator', { prefixCaching });
  const rows = Array.from({ length: numRows }, (_, index) => ({
    number: String(index),
    thing: ['fox', 'very old and tired dragon', 'girl'][index % 3] ?? '',
  }));
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
  return { 'rows/s': (numRows - finished) / seconds, 'tasks of the page over 50 ms': numTasks };
}

/** Runs in the page, sent there as text. Keeps as many requests of the same texts running as there are slots. */
export async function runClosedLoop({ template, numRows, maxNewTokens }: RowsPlan): Promise<number> {
  const { tabserve } = window;
  const startMs = performance.now();
  let next = 0;
  const client = async (): Promise<void> => {
    for (let index = next; index < numRows; index = next) {
      next += 1;
      const thing = ['fox', 'very old and tired dragon', 'girl'][index % 3] ?? '';
      const prompt = template.replace('{{thing}}', thing).replace('{{number}}', String(index));
      await tabserve.generate(prompt, { seed: 1 + index, maxNewTokens, ignoreEos: true });
    }
  };
  await Promise.all(Array.from({ length: tabserve.status().policy.maxBatchSize }, client));
  return (numRows * 1000) / (performance.now() - startMs);
}

/** Runs in the page, sent there as text. Sends one prompt after another, beside a job of this template if there is one. */
export async function timeFirstTokens({
  numPrompts,
  template,
}: {
  readonly numPrompts: number;
  readonly template: string | undefined;
}) {
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
