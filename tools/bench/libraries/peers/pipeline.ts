import { pipeline, TextStreamer, type TextGenerationPipeline } from '@huggingface/transformers';

import type { BackendName } from '../../bench-case.ts';
import type { Contender, ContenderSpec, PeerRequest } from '../contender.ts';
import { describeDevice, readOwnServerOnly } from './runtime.ts';

interface Waiting {
  readonly request: PeerRequest;
  readonly onToken: () => void;
  readonly answer: PromiseWithResolvers<{ readonly tokenIds: readonly number[] }>;
}

/**
 * Queues requests for the `text-generation` pipeline, which must not be called again while it runs. Each call takes the waiting
 * prompts, `listSize` at most, as one list: a user of the library can't batch requests any better.
 */
export async function loadPipeline(
  { model, dtype, listSize = 1 }: ContenderSpec,
  backend: BackendName,
): Promise<Contender> {
  readOwnServerOnly();
  const generator = await pipeline('text-generation', model, { device: backend, dtype });
  const runsOn = `${await describeDevice(backend)}, ${dtype}`;
  const waiting: Waiting[] = [];
  let isRunning = false;

  async function run(): Promise<void> {
    isRunning = true;
    // Wait a turn of the event loop for requests that arrived meanwhile: the pipeline blocks the page's thread.
    for (await nextTurn(); waiting.length > 0; await nextTurn()) {
      await generateList(generator, waiting.splice(0, listSize));
    }
    isRunning = false;
  }

  return {
    runsOn,
    generate(request, onToken) {
      const answer: Waiting['answer'] = Promise.withResolvers();
      waiting.push({ request, onToken, answer });
      if (!isRunning) void run();
      return answer.promise;
    },
  };
}

/** One list, as long as its longest member: the library has one `max_new_tokens` for all, so the others are cut off. */
async function generateList(generator: TextGenerationPipeline, list: readonly Waiting[]): Promise<void> {
  const streamer = new RowStreamer(generator, () => {
    for (const { onToken } of list) onToken();
  });
  try {
    await generator(
      list.map(({ request }) => request.prompt),
      {
        max_new_tokens: Math.max(...list.map(({ request }) => request.maxNewTokens)),
        do_sample: false,
        streamer,
      },
    );
    for (const [row, { request, answer }] of list.entries()) {
      answer.resolve({ tokenIds: (streamer.rows[row] ?? []).slice(0, request.maxNewTokens) });
    }
  } catch (error) {
    for (const { answer } of list) answer.reject(error);
  }
}

/** Collects each row's new tokens, and no text: the library's own streamer takes one row only. */
class RowStreamer extends TextStreamer {
  readonly rows: number[][] = [];
  readonly #onTokens: () => void;
  #numPuts = 0;

  constructor({ tokenizer }: TextGenerationPipeline, onTokens: () => void) {
    super(tokenizer);
    this.#onTokens = onTokens;
  }

  /** The first call brings the prompts. */
  override put(rows: bigint[][]): void {
    const numPuts = this.#numPuts++;
    if (numPuts === 0) return;
    this.#onTokens();
    for (const [row, ids] of rows.entries()) (this.rows[row] ??= []).push(...ids.map(Number));
  }

  override end(): void {}
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve);
  });
}
