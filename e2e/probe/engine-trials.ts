import type { FinishedEvent } from '../../src/batching/generation/events.ts';
import type { SamplingParams } from '../../src/batching/sampling/sampling-options.ts';
import { GREEDY } from '../../src/batching/generation/request.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { play, type Draft, type Played, type ProbeModel } from '../../tools/reference/play-requests.ts';

export interface TrialReport {
  /** One line per request whose tokens differ from those that it gets alone. */
  readonly differences: readonly string[];
  /** The largest decode batch of each trial. */
  readonly batchSizes: readonly number[];
  /** Events of the trials, so that a test can check that they happened. */
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
  /** New tokens of each target. The other rows of its batch have random, smaller numbers. */
  readonly maxNewTokens: number;
}

const POLICIES = ['off', 'static', 'continuous'] as const;

/**
 * Runs fixed requests again and again, each time with other batch-mates, arrivals, policy, batch size, with or without prefix
 * caching and pipelining, and compares their tokens with those of the same request alone.
 */
export async function runTrials(
  model: ProbeModel,
  seed: number,
  { count: numTrials, maxNewTokens }: TrialOptions,
): Promise<TrialReport> {
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
    // Sizes rotate. The first trial is the largest batch, with every feature on.
    const isWhole = trial === 0 || random() < 0.5;
    const numOthers = 15 - (trial % 15);
    const policy = {
      policy: trial === 0 ? 'static' : pick(POLICIES),
      maxBatchSize: numOthers + 1,
      batchWaitTimeoutMs: 0,
      maxBatchedTokens: isWhole ? 512 : pick([8, 64, 256]),
      prefixCaching: trial === 0 || random() < 0.5,
    };
    const isPipelined = model.backend.isPipelined && (trial === 0 || random() < 0.5);
    if (!target) throw new RangeError(`Expected a target ${index}`);
    const others = Array.from({ length: numOthers }, () => ({
      draft: draft(pick(SAMPLINGS), Math.floor(random() * 2 ** 32), isWhole ? maxNewTokens / 2 : 1),
      afterSteps: isWhole ? 0 : Math.floor(random() * 8),
    }));
    const place = Math.floor(random() * (numOthers + 1));
    const arrivals = others.toSpliced(place, 0, {
      draft: target,
      afterSteps: isWhole ? 0 : Math.floor(random() * 8),
    });
    const played = await play(model, { policy, isPipelined, arrivals });
    const [expected, got] = [await playAlone(target), played.finished[place]].map((end) =>
      end?.tokenIds.join(),
    );
    if (got !== expected) {
      const name = `${policy.policy}, ${numOthers} mates, caching ${policy.prefixCaching}, pipelined ${isPipelined}`;
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
