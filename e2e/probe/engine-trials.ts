import { systemClock } from '../../src/batching/clock.ts';
import { Engine } from '../../src/batching/generation/engine.ts';
import type { FinishedEvent, StepEvent } from '../../src/batching/generation/events.ts';
import type { ModelRunner, Step } from '../../src/batching/generation/model-runner.ts';
import type { SamplingParams } from '../../src/batching/generation/options.ts';
import { DEFAULT_POLICY, type BatchingPolicy } from '../../src/batching/generation/policy.ts';
import { GREEDY, type GenerationRequest, type RequestId } from '../../src/batching/generation/request.ts';
import { createClientId, createRequestId } from '../../src/worker/protocol/ids.ts';
import type { LoadedModel } from '../../src/worker/models/load-model.ts';
import { BackendRunner } from '../../src/worker/runtime/runner.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { sharedModel } from './shared-model.ts';

export interface TrialReport {
  /** One line per request whose tokens were not those that it has alone. */
  readonly differences: readonly string[];
  /** The largest decode batch of each trial. */
  readonly batchSizes: readonly number[];
  /** What the trials went through, so that a test can see that they did. */
  readonly numPipelined: number;
  readonly numSharedPrefills: number;
  readonly numReusedTokens: number;
}

const PROMPTS = [
  'Once upon a time, there was a little girl named Lily.',
  'Tom had a red ball. He liked to',
  'One day, a big dog',
  'The sun was',
  'Once upon a time, there was a little girl named Lily. She loved to play outside in the park with her friends every day.',
  'Mia and Ben went to the',
];

const SAMPLINGS: readonly Partial<SamplingParams>[] = [
  {},
  { temperature: 0.9, topK: 40 },
  { temperature: 1.2, topP: 0.9, minP: 0.02 },
  { temperature: 0.8, repetitionPenalty: 1.3, frequencyPenalty: 0.5 },
];

/** How much there is to go through. */
export interface TrialOptions {
  readonly count: number;
  /** Of each target; its mates have fewer, by chance. */
  readonly maxNewTokens: number;
}

const POLICIES = ['off', 'static', 'continuous'] as const;

type Draft = Omit<GenerationRequest, 'id' | 'clientId'>;

interface Play {
  readonly policy: Partial<BatchingPolicy>;
  readonly isPipelined: boolean;
  /** Each with the number of steps after which it arrives. */
  readonly arrivals: readonly { readonly draft: Draft; readonly afterSteps: number }[];
}

interface Played {
  /** In the order of the arrivals. */
  readonly finished: readonly FinishedEvent[];
  readonly steps: readonly StepEvent[];
  readonly numSharedPrefills: number;
}

/**
 * Runs fixed requests again and again, each time with other mates, arrivals, policy, batch size, with or without prefix
 * caching and pipelining, and compares their tokens with those of the same request alone.
 */
export async function runTrials(
  backend: 'webgpu' | 'wasm',
  seed: number,
  { count: numTrials, maxNewTokens }: TrialOptions,
): Promise<TrialReport> {
  const model = await sharedModel(backend);
  const random = seededRandom(seed);
  const pick = <Item>(items: readonly Item[]): Item => {
    const item = items[Math.floor(random() * items.length)];
    if (item === undefined) throw new RangeError('Expected something to pick from');
    return item;
  };
  const draft = (sampling: Partial<SamplingParams>, ownSeed: number, fewestTokens = 1): Draft => ({
    promptTokenIds: model.tokenizer.encode(pick(PROMPTS)),
    maxNewTokens: fewestTokens + Math.floor(random() * (maxNewTokens + 1 - fewestTokens)),
    sampling: { ...GREEDY, ...sampling, seed: ownSeed },
  });
  const targets = Array.from({ length: 12 }, (_, index) => ({
    ...draft(SAMPLINGS[index % SAMPLINGS.length] ?? {}, index),
    maxNewTokens,
  }));
  const alone = new Map<Draft, FinishedEvent | undefined>();
  const playAlone = async (target: Draft): Promise<FinishedEvent | undefined> => {
    const policy = { policy: 'off', prefixCaching: false } as const;
    const arrivals = [{ draft: target, afterSteps: 0 }];
    if (!alone.has(target))
      alone.set(target, (await play(model, { policy, isPipelined: false, arrivals })).finished[0]);
    return alone.get(target);
  };
  const report = {
    differences: [] as string[],
    batchSizes: [] as number[],
    numPipelined: 0,
    numSharedPrefills: 0,
    numReusedTokens: 0,
  };
  for (let trial = 0; trial < numTrials; trial += 1) {
    const index = Math.floor(random() * targets.length);
    const target = targets[index];
    // Sizes take turns; the first trial is the largest batch that there is, with all that can be on.
    const isWhole = trial === 0 || random() < 0.5;
    const numMates = 15 - (trial % 15);
    const policy = {
      policy: trial === 0 ? 'static' : pick(POLICIES),
      maxBatchSize: numMates + 1,
      batchWaitTimeoutMs: 0,
      maxBatchedTokens: isWhole ? 512 : pick([8, 64, 256]),
      prefixCaching: trial === 0 || random() < 0.5,
    };
    const isPipelined = model.backend.isPipelined && (trial === 0 || random() < 0.5);
    if (!target) throw new RangeError(`Expected a target ${index}`);
    const mates = Array.from({ length: numMates }, () => ({
      draft: draft(pick(SAMPLINGS), Math.floor(random() * 2 ** 32), isWhole ? maxNewTokens / 2 : 1),
      afterSteps: isWhole ? 0 : Math.floor(random() * 8),
    }));
    const place = Math.floor(random() * (numMates + 1));
    const arrivals = mates.toSpliced(place, 0, {
      draft: target,
      afterSteps: isWhole ? 0 : Math.floor(random() * 8),
    });
    const played = await play(model, { policy, isPipelined, arrivals });
    const [expected, got] = [await playAlone(target), played.finished[place]].map((end) =>
      end?.tokenIds.join(),
    );
    if (got !== expected) {
      const name = `${policy.policy}, ${numMates} mates, caching ${policy.prefixCaching}, pipelined ${isPipelined}`;
      report.differences.push(`trial ${trial}, target ${index}, ${name}: ${got} instead of ${expected}`);
    }
    report.batchSizes.push(largestOf(played));
    report.numPipelined += isPipelined ? 1 : 0;
    report.numSharedPrefills += played.numSharedPrefills;
    report.numReusedTokens += reusedIn(played);
  }
  return report;
}

function largestOf({ steps }: Played): number {
  return Math.max(...steps.map(({ kind, batchSize }) => (kind === 'decode' ? batchSize : 0)));
}

function reusedIn({ steps }: Played): number {
  return steps
    .flatMap(({ requests }) => requests)
    .reduce((sum, event) => sum + (event.type === 'started' ? event.numReusedTokens : 0), 0);
}

/** One life of an engine: all arrive and end. */
async function play(model: LoadedModel, { policy, isPipelined, arrivals }: Play): Promise<Played> {
  const { promise: done, resolve } = Promise.withResolvers<void>();
  const finished = new Map<RequestId, FinishedEvent>();
  const steps: StepEvent[] = [];
  const waiting = new Set(arrivals);
  const ids: RequestId[] = arrivals.map(() => createRequestId());
  let numSharedPrefills = 0;
  const runner = new BackendRunner(model.backend);
  const watched: ModelRunner = {
    isPipelined,
    kvCacheLimits: runner.kvCacheLimits,
    maxPrefillRows: runner.maxPrefillRows,
    maxScoredTokens: runner.maxScoredTokens,
    start: (step: Step) => {
      if (step.kind === 'prefill' && step.rows.length > 1) numSharedPrefills += 1;
      return runner.start(step);
    },
  };
  const engine = new Engine({
    runner: watched,
    clock: systemClock,
    contextLength: model.config.contextLength,
    eosTokenIds: model.config.eosTokenIds,
    policy: { ...DEFAULT_POLICY, ...policy },
    listener: {
      onStep(event) {
        steps.push(event);
        for (const request of event.requests) {
          if (request.type === 'finished') finished.set(request.requestId, request);
        }
        submitDue();
      },
      onEnded: () => {},
    },
  });
  const clientId = createClientId();
  function submitDue(): void {
    const isIdle = engine.numRunning + engine.numWaiting === 0;
    for (const arrival of waiting) {
      if (arrival.afterSteps > steps.length && !isIdle) continue;
      waiting.delete(arrival);
      const id = ids[arrivals.indexOf(arrival)];
      if (id) engine.submitAll([{ ...arrival.draft, id, clientId }]);
    }
    if (finished.size === arrivals.length) resolve();
  }
  submitDue();
  await done;
  await engine.close();
  return { finished: ids.flatMap((id) => finished.get(id) ?? []), steps, numSharedPrefills };
}
