import type { Job } from '../../../src/client/index.ts';

/** Rows for a job, or for requests of the same texts. */
export interface RowsPlan {
  readonly template: string;
  readonly numRows: number;
  readonly maxNewTokens: number;
  readonly prefixCaching: boolean;
}

export interface JobRun {
  /** Rows per second. */
  readonly rate: number;
  /** Tasks of the page's thread that took over 50 ms. */
  readonly longTasksMs: readonly number[];
}

/** Runs in the page, sent there as text. Stores the rows, then measures their run. */
export async function runJob({ template, numRows, maxNewTokens, prefixCaching }: RowsPlan): Promise<JobRun> {
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
  const longTasksMs: number[] = [];
  const observer = new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) longTasksMs.push(duration);
  });
  observer.observe({ type: 'longtask' });
  const startMs = performance.now();
  const { finished } = job.info.counts;
  await job.done();
  const seconds = (performance.now() - startMs) / 1000;
  observer.disconnect();
  await job.delete();
  await tabserve.configure('text-generator', { prefixCaching: true });
  return { rate: (numRows - finished) / seconds, longTasksMs };
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

/** Times to first tokens, and of the steps meanwhile, in ms. */
export interface FirstTokens {
  /** From a prompt's arrival at the worker to its token there. */
  readonly inWorker: readonly number[];
  /** From the call to its first chunk, in the page. */
  readonly inPage: readonly number[];
  readonly steps: readonly number[];
}

/** Runs in the page, sent there as text. Sends one prompt after another, beside a job of this template if there is one. */
export async function timeFirstTokens({
  numPrompts,
  template,
}: {
  readonly numPrompts: number;
  readonly template: string | undefined;
}): Promise<FirstTokens> {
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
  return { inWorker, inPage, steps };
}

/** Rows to label. */
export interface LabelsPlan {
  readonly texts: readonly string[];
  readonly system: string;
  /** With `{{text}}`. */
  readonly template: string;
  readonly choices: readonly string[];
}

/** Runs in the page, sent there as text. Labels the texts by a job and one by one. Returns the rows per second, and how many labels agree. */
export async function labelTexts({ texts, system, template, choices }: LabelsPlan) {
  const { tabserve } = window;
  const responseFormat = { type: 'choice', choices } as const;
  const options = { temperature: 0 };
  const job = await tabserve.jobs.create({
    rows: texts.map((text) => ({ text })),
    system,
    template,
    responseFormat,
    options,
  });
  const beganAtMs = performance.now();
  const { finished } = job.info.counts;
  const labels: (string | undefined)[] = [];
  for await (const { result } of job.results()) labels.push(result.text ?? result.error?.code);
  const jobSeconds = (performance.now() - beganAtMs) / 1000;
  await job.delete();
  const alone: string[] = [];
  const startMs = performance.now();
  for (const text of texts) {
    const messages = [
      { role: 'system', content: system },
      { role: 'user', content: template.replace('{{text}}', text) },
    ] as const;
    alone.push((await tabserve.generate(messages, { ...options, responseFormat }).result()).generatedText);
  }
  return {
    job: (texts.length - finished) / jobSeconds,
    oneByOne: (texts.length * 1000) / (performance.now() - startMs),
    numEqual: alone.filter((label, index) => label === labels[index]).length,
  };
}
