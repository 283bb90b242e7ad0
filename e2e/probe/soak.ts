import { DEFAULT_POLICY } from '../../src/batching/generation/policy.ts';
import { createClientId, createRequestId, type RequestId } from '../../src/protocol/ids.ts';
import { chooseDevice } from '../../src/worker/runtime/devices/create-backend.ts';
import { ModelGenerator } from '../../src/worker/text-generation/model-generator.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { GpuCalls } from './gpu-calls.ts';
import { loadEmbedded, type ProbeBackend } from './models.ts';

const NUM_AT_A_TIME = 12;
const MAX_PROMPT_WORDS = 40;
const MAX_NEW_TOKENS = 24;
const WORDS = 'the little dog ran to a big red house and saw Tom play with his ball in the sun'.split(' ');

interface Running {
  /** It is cancelled after this many chunks. */
  patience: number;
  end(): void;
}

/** A text generator in this page, without a worker, so that its heap is the page's. */
export async function createSoak(backend: ProbeBackend, seed: number) {
  const calls = backend === 'webgpu' ? new GpuCalls() : undefined;
  const model = await loadEmbedded(await chooseDevice(backend));
  const random = seededRandom(seed);
  const clientId = createClientId();
  const counts = { numFinished: 0, numCancelled: 0, numFailed: 0 };
  const running = new Map<RequestId, Running>();
  const generator = new ModelGenerator(model, DEFAULT_POLICY, {
    onUpdates(updates) {
      for (const update of updates) {
        const { requestId } = update;
        const request = running.get(requestId);
        if (update.type === 'chunk' && request) {
          request.patience -= 1;
          // Not from within the engine's own report.
          if (request.patience === 0) queueMicrotask(() => generator.cancel(requestId));
        }
        if (update.type !== 'finished' && update.type !== 'failed') continue;
        if (update.type === 'finished') counts.numFinished += 1;
        else counts[update.error.code === 'REQUEST_CANCELLED' ? 'numCancelled' : 'numFailed'] += 1;
        running.delete(requestId);
        request?.end();
      }
    },
    onStep: () => {},
    onEnded: () => {},
    onRuntimeLost: () => {},
  });

  function generate(input: string, options: unknown, patience = Infinity): Promise<void> {
    const requestId = createRequestId();
    const { promise, resolve } = Promise.withResolvers<void>();
    running.set(requestId, { patience, end: resolve });
    const reading = generator.readAll([{ requestId, clientId, input, options, elapsedMs: 0 }]);
    let piece = reading.next();
    while (!piece.done) piece = reading.next();
    piece.value();
    if (patience === 0) generator.cancel(requestId);
    return promise;
  }

  const upTo = (limit: number): number => 1 + Math.floor(random() * limit);
  const maybe = <Value>(name: string, value: Value) => (random() < 0.3 ? { [name]: value } : {});

  function generateRandom(): Promise<void> {
    const options = {
      maxNewTokens: upTo(MAX_NEW_TOKENS),
      seed: upTo(1e9),
      ...maybe('temperature', 2 * random()),
      ...maybe('topK', upTo(50)),
      ...maybe('topP', 0.5 + random() / 2),
      ...maybe('repetitionPenalty', 1 + random()),
      ...maybe('logitBias', { [upTo(500)]: 5 * random() }),
      ...maybe('logprobs', upTo(5)),
      ...maybe('n', upTo(3)),
      ...maybe('stop', [' the', '. ']),
      ...maybe('priority', upTo(5)),
    };
    const patience = random() < 0.3 ? upTo(MAX_NEW_TOKENS) - 1 : Infinity;
    return generate(
      words(upTo(MAX_PROMPT_WORDS), () => upTo(WORDS.length)),
      options,
      patience,
    );
  }

  /** Grows everything that can grow with use to its largest size. One request is always cancelled. */
  async function runLargest(): Promise<void> {
    const options = { maxNewTokens: 8, repetitionPenalty: 1.1, logprobs: 5, temperature: 1 };
    const long = Array.from({ length: NUM_AT_A_TIME }, (_, seedOfText) => {
      const prompt = `${seedOfText} ${words(2 * MAX_PROMPT_WORDS, (index) => index)}`;
      return generate(prompt, { ...options, seed: seedOfText }, seedOfText === 0 ? 3 : Infinity);
    });
    await Promise.all(long);
    const short = Array.from({ length: 2 * NUM_AT_A_TIME }, (_, index) => words(1, () => index));
    await Promise.all(short.map((word) => generate(word, { ...options, seed: 1 })));
  }

  /** Runs this many random requests to their ends, a dozen at a time, then the largest batch that there can be. */
  return async (numRequests: number) => {
    let numLeft = numRequests;
    const runLane = async (): Promise<void> => {
      while (numLeft-- > 0) await generateRandom();
    };
    await Promise.all(Array.from({ length: NUM_AT_A_TIME }, runLane));
    await runLargest();
    return { ...(calls?.live ?? { numBuffers: 0, numBytes: 0 }), ...generator.gauges, ...counts };
  };
}

function words(count: number, at: (index: number) => number): string {
  return Array.from({ length: count }, (_, index) => WORDS[at(index) % WORDS.length]).join(' ');
}
