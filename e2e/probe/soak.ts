import { DEFAULT_POLICY } from '../../src/batching/generation/policy.ts';
import type { EngineGauges } from '../../src/batching/metrics/generation-metrics.ts';
import { ModelGenerator } from '../../src/worker/text-generation/model-generator.ts';
import { createClientId, createRequestId, type RequestId } from '../../src/protocol/ids.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { startGpuCensus, type GpuCensus } from './gpu-census.ts';
import { sharedModel } from './shared-model.ts';

export interface SoakState extends GpuCensus, EngineGauges {
  readonly numFinished: number;
  readonly numCancelled: number;
  readonly numFailed: number;
}

export interface Soak {
  /** Runs this many random requests to their ends, a dozen at a time, then the largest batch that there can be. */
  run(numRequests: number): Promise<SoakState>;
}

const NUM_AT_A_TIME = 12;
const MAX_PROMPT_WORDS = 40;
const MAX_NEW_TOKENS = 24;
const WORDS = 'the little dog ran to a big red house and saw Tom play with his ball in the sun'.split(' ');

/** A text generator in this page, without a worker, so that its heap is the page's. */
export async function createSoak(backend: 'webgpu' | 'wasm', seed: number): Promise<Soak> {
  const census = backend === 'webgpu' ? startGpuCensus() : () => ({ numBuffers: 0, numBytes: 0 });
  const model = await sharedModel(backend);
  const random = seededRandom(seed);
  const clientId = createClientId();
  const counts = { numFinished: 0, numCancelled: 0, numFailed: 0 };
  const ends = new Map<RequestId, () => void>();
  /** It is cancelled after this many chunks. */
  const patience = new Map<RequestId, number>();
  const generator = new ModelGenerator(model, DEFAULT_POLICY, {
    onUpdates(updates) {
      for (const update of updates) {
        if (update.type === 'finished') counts.numFinished += 1;
        if (update.type === 'failed') {
          counts[update.error.code === 'REQUEST_CANCELLED' ? 'numCancelled' : 'numFailed'] += 1;
        }
        if (update.type === 'finished' || update.type === 'failed') {
          ends.get(update.requestId)?.();
          ends.delete(update.requestId);
          patience.delete(update.requestId);
        }
        if (update.type === 'chunk') runOut(update.requestId);
      }
    },
    onStep: () => {},
    onEnded: () => {},
    onRuntimeLost: () => {},
  });

  function runOut(requestId: RequestId): void {
    const left = (patience.get(requestId) ?? Infinity) - 1;
    if (left === Infinity) return;
    patience.set(requestId, left);
    // Not from within the engine's own report.
    if (left === 0) queueMicrotask(() => generator.cancel(requestId));
  }

  function generate(prompt: string, options: unknown, cancelAfter: number): Promise<void> {
    const requestId = createRequestId();
    const { promise, resolve } = Promise.withResolvers<void>();
    ends.set(requestId, resolve);
    if (Number.isFinite(cancelAfter)) patience.set(requestId, cancelAfter);
    const reading = generator.readAll([{ requestId, clientId, input: prompt, options, elapsedMs: 0 }]);
    let piece = reading.next();
    while (!piece.done) piece = reading.next();
    piece.value();
    if (cancelAfter === 0) generator.cancel(requestId);
    return promise;
  }

  const upTo = (limit: number): number => 1 + Math.floor(random() * limit);
  const maybe = <Value>(name: string, value: Value) => (random() < 0.3 ? { [name]: value } : {});

  function generateRandom(): Promise<void> {
    const prompt = Array.from({ length: upTo(MAX_PROMPT_WORDS) }, () => WORDS[upTo(WORDS.length) - 1]).join(
      ' ',
    );
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
    return generate(prompt, options, random() < 0.3 ? upTo(MAX_NEW_TOKENS) - 1 : Infinity);
  }

  async function runRandom(numRequests: number): Promise<void> {
    let numLeft = numRequests;
    const runLane = async (): Promise<void> => {
      while (numLeft > 0) {
        numLeft -= 1;
        await generateRandom();
      }
    };
    await Promise.all(Array.from({ length: NUM_AT_A_TIME }, runLane));
  }

  /** Grows everything that can grow with use to its largest size. One request is always cancelled. */
  async function runLargest(): Promise<void> {
    const prompt = Array.from({ length: 2 * MAX_PROMPT_WORDS }, (_, index) => WORDS[index % WORDS.length]);
    const options = { maxNewTokens: 8, repetitionPenalty: 1.1, logprobs: 5, temperature: 1 };
    await Promise.all(
      Array.from({ length: NUM_AT_A_TIME }, (_, index) =>
        generate(`${index} ${prompt.join(' ')}`, { ...options, seed: index }, index === 0 ? 3 : Infinity),
      ),
    );
    const short = Array.from({ length: 2 * NUM_AT_A_TIME }, (_, index) => WORDS[index % WORDS.length]);
    await Promise.all(short.map((word) => generate(`${word}`, { ...options, seed: 1 }, Infinity)));
  }

  return {
    async run(numRequests) {
      await runRandom(numRequests);
      await runLargest();
      return { ...census(), ...generator.gauges, ...counts };
    },
  };
}
