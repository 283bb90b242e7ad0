import type { Job } from '../../../src/client/index.ts';

/** Rows for a job, or for requests of the same texts. */
export interface RowsPlan {
  readonly template: string;
  readonly numRows: number;
  readonly maxNewTokens: number;
  readonly prefixCaching: boolean;
}

/** Runs in the page, sent there as text. Stores the rows, then returns the rows per second of their run. */
export async function runJob({ template, numRows, maxNewTokens, prefixCaching }: RowsPlan): Promise<number> {
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
  const startMs = performance.now();
  const { finished } = job.info.counts;
  await job.done();
  const seconds = (performance.now() - startMs) / 1000;
  await job.delete();
  await tabserve.configure('text-generator', { prefixCaching: true });
  return (numRows - finished) / seconds;
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

/**
 * Runs in the page, sent there as text. Sends one prompt after another, beside a job of this template if there is one. Times are from
 * a prompt's arrival at the worker.
 */
export async function timeFirstTokens({
  numPrompts,
  template,
}: {
  readonly numPrompts: number;
  readonly template: string | undefined;
}): Promise<{ readonly ttfts: readonly number[]; readonly stepsMs: readonly number[] }> {
  const { tabserve } = window;
  const stepsMs: number[] = [];
  let job: Job | undefined;
  if (template !== undefined) {
    const rows = Array.from({ length: 5000 }, (_, index) => ({ number: String(index), thing: 'fox' }));
    job = await tabserve.jobs.create({ rows, template, options: { maxNewTokens: 64, ignoreEos: true } });
  }
  const unsubscribe = tabserve.subscribe('stats', ({ steps }) => {
    for (const { stepMs } of steps) stepsMs.push(stepMs);
  });
  const ttfts: number[] = [];
  for (let index = 0; index < numPrompts; index += 1) {
    // The job is in the middle of its steps.
    await new Promise((resolve) => setTimeout(resolve, 20 + 17 * (index % 7)));
    const prompt = `Prompt ${index}: one day, a boy went to the sea and`;
    const { timings } = await tabserve.generate(prompt, { maxNewTokens: 2 }).result();
    ttfts.push(timings.ttftMs);
  }
  unsubscribe();
  await job?.delete();
  return { ttfts, stepsMs };
}
