import {
  UnsupportedFunctionalityError,
  type Experimental_BatchV4,
  type Experimental_BatchV4CancelResult,
  type Experimental_BatchV4ItemResult,
  type Experimental_BatchV4ListOptions,
  type Experimental_BatchV4ListResult,
  type Experimental_BatchV4OperationOptions,
  type Experimental_BatchV4StartOptions,
  type Experimental_BatchV4StartResult,
  type Experimental_BatchV4Status,
} from '@ai-sdk/provider';

import type { Job, JobInfo, JobRequest, JobRow } from '../index.ts';
import type { ModelHost } from './model-host.ts';
import { readChat } from './read-prompt.ts';
import { PROVIDER, readSettings, warningsOf } from './read-settings.ts';
import { contentOf, plainEndOf } from './write-answer.ts';

interface ModelIds {
  readonly text: string;
}

type Item = Experimental_BatchV4ItemResult;

/** Batches of the AI SDK as jobs of this browser. Source: `BatchV4` of the AI SDK. */
export class TabserveBatch implements Experimental_BatchV4<ModelIds> {
  readonly specificationVersion = 'v4';
  readonly provider = PROVIDER;
  /** All: the AI SDK would download a file that the call then refuses. */
  readonly supportedUrls = { '*/*': [/./] };
  readonly #host: ModelHost;

  constructor(host: ModelHost) {
    this.#host = host;
  }

  /** Loads the model first, as a call does. */
  async doStartBatch({
    requests,
    abortSignal: signal,
    webhookUrl,
  }: Experimental_BatchV4StartOptions<ModelIds>): Promise<Experimental_BatchV4StartResult> {
    const lines = requests.map(toLine);
    const [modelId, other] = new Set(requests.map((request) => request.modelId));
    if (modelId === undefined || other !== undefined)
      throw refusal('batches of several models', 'Start a batch for each model.');
    const { jobs } = await this.#host.open(modelId, signal);
    const job = await jobs.create({ requests: lines, ...(signal && { signal }) });
    const feature = { type: 'unsupported', feature: 'webhookUrl' } as const;
    return {
      ...statusOf(job.info),
      batchId: job.id,
      warnings: [
        ...(webhookUrl === undefined ? [] : [{ warning: feature }]),
        ...requests.flatMap((request) =>
          request.type === 'text'
            ? warningsOf(request.options).map((warning) => ({ requestId: request.id, warning }))
            : [],
        ),
      ],
    };
  }

  async doGetBatchStatus(options: Experimental_BatchV4OperationOptions): Promise<Experimental_BatchV4Status> {
    return statusOf((await this.#jobOf(options)).info);
  }

  /** In the order of the requests, as they come. */
  async doGetBatchResults(options: Experimental_BatchV4OperationOptions): Promise<ReadableStream<Item>> {
    const items = itemsOf(await this.#jobOf(options));
    return new ReadableStream<Item>({
      async pull(controller) {
        const { value, done } = await items.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      async cancel() {
        await items.return(undefined);
      },
    });
  }

  async doCancelBatch(
    options: Experimental_BatchV4OperationOptions,
  ): Promise<Experimental_BatchV4CancelResult> {
    await (await this.#jobOf(options)).cancel();
    return {};
  }

  /** The latest first. */
  async doListBatches({
    limit = Infinity,
    cursor,
  }: Experimental_BatchV4ListOptions): Promise<Experimental_BatchV4ListResult> {
    const { jobs } = await this.#host.client();
    const all = (await jobs.list()).filter(({ id, info }) => {
      return info.source === 'requests' && (cursor === undefined || id < cursor);
    });
    const page = all.slice(0, limit);
    const last = page.at(-1);
    return {
      batches: page.map(({ id, info }) => ({ ...statusOf(info), batchId: id })),
      ...(last && page.length < all.length && { nextCursor: last.id }),
    };
  }

  async #jobOf({ batchId }: Experimental_BatchV4OperationOptions): Promise<Job> {
    return (await this.#host.client()).jobs.get(batchId);
  }
}

function toLine(request: Experimental_BatchV4StartOptions<ModelIds>['requests'][number]): JobRequest {
  if (request.type !== 'text') throw refusal('images', 'Leave out requests for images.');
  const { id, options } = request;
  const body = { input: readChat(options.prompt), options: readSettings(options) };
  return { custom_id: id, method: 'POST', url: 'text-generator', body };
}

function statusOf({ state, counts, error, createdAt }: JobInfo): Experimental_BatchV4Status {
  const { total, finished: completed, failed } = counts;
  const isOver = state === 'finished' || state === 'cancelled';
  return {
    status: isOver ? 'completed' : state === 'failed' ? 'failed' : 'pending',
    rawStatus: state,
    requestCounts: { total, pending: total - completed - failed, completed, failed },
    createdAt,
    ...(error && { error: { code: error.code, message: error.message } }),
  };
}

async function* itemsOf(job: Job): AsyncGenerator<Item, void, undefined> {
  let from = 0;
  for await (const row of job.results()) {
    // A job that was cancelled has skipped those before.
    yield* cancelledItems(job, from, row.index);
    yield toItem(row);
    from = row.index + 1;
  }
  yield* cancelledItems(job, from, job.info.counts.total);
}

async function* cancelledItems(job: Job, from: number, to: number): AsyncGenerator<Item, void, undefined> {
  for (let at = from; at < to;) {
    const { rows } = await job.rows({ from: at, limit: Math.min(1000, to - at) });
    for (const row of rows) yield toItem(row);
    at += Math.max(1, rows.length);
  }
}

function toItem({ input, result }: JobRow): Item {
  const item = { type: 'text', id: String(input['custom_id']) } as const;
  if (!result) return { ...item, status: 'cancelled' };
  const { error, choices = [], numPromptTokens, numOutputTokens } = result;
  const [choice] = choices;
  if (error || !choice)
    return { ...item, status: 'failed', error: { code: error?.code ?? '', message: error?.message ?? '' } };
  const { text: generatedText, finishReason, answer } = choice;
  const usage = { numPromptTokens, numCachedTokens: 0, numOutputTokens };
  const answered = { generatedText, finishReason, usage, ...(answer && { answer }) };
  return {
    ...item,
    status: 'succeeded',
    result: { content: contentOf(answered), ...plainEndOf(answered), warnings: [] },
  };
}

function refusal(functionality: string, remedy: string): UnsupportedFunctionalityError {
  return new UnsupportedFunctionalityError({
    functionality,
    message: `Tabserve has no ${functionality}. ${remedy}`,
  });
}
