import type { FinishedEvent } from '../../src/batching/generation/events.ts';
import type { BatchingPolicy } from '../../src/batching/generation/policy.ts';
import { GREEDY } from '../../src/batching/generation/request.ts';
import type { SamplingParams } from '../../src/batching/options/sampling-options.ts';
import { play, type Draft } from '../../tools/reference/play-requests.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { openModel, type ModelChoice, type ProbeModel } from './models.ts';

export interface GreedyBatch {
  readonly prompts: readonly (readonly number[])[];
  readonly maxNewTokens: number;
  readonly policy: Partial<BatchingPolicy>;
  readonly isPipelined: boolean;
  /** Each prompt arrives this many steps after the one before it. */
  readonly stepsBetween: number;
  /** Whether logprobs of the prompt's and of the output's tokens are asked for. */
  readonly hasLogprobs: boolean;
  /** The last prompt is sent once more, first of all, and is aborted after so many steps. */
  readonly abortsAfterSteps?: number;
}

/** End tokens do not end the texts. Logprobs are natural logarithms, those of a prompt without its first token; none where not asked for. */
export async function runGreedyBatch(choice: ModelChoice, batch: GreedyBatch) {
  const model = await openModel(choice);
  const logprobs = batch.hasLogprobs ? 0 : undefined;
  const drafts = batch.prompts.map((promptTokenIds) => ({
    promptTokenIds,
    maxNewTokens: batch.maxNewTokens,
    ignoreEos: true,
    promptLogprobs: logprobs,
    sampling: { ...GREEDY, logprobs },
  }));
  const aborted = batch.abortsAfterSteps === undefined ? [] : drafts.slice(-1);
  const played = await play(model, {
    policy: batch.policy,
    isPipelined: batch.isPipelined && model.backend.isPipelined,
    arrivals: [
      ...aborted.map((draft) => ({ draft, afterSteps: 0, abortedAfterSteps: batch.abortsAfterSteps })),
      ...drafts.map((draft, i) => ({ draft, afterSteps: i * batch.stepsBetween })),
    ],
  });
  const { steps, finished, events, batchSizes, numReusedTokens } = played;
  const ids = played.ids.slice(aborted.length);
  const eventsOf = ids.map((id) => events.filter(({ requestId }) => requestId === id));
  return {
    tokenIds: finished.map(({ tokenIds }) => tokenIds),
    numAbortedTokens: events.filter(({ type, requestId }) => type === 'token' && !ids.includes(requestId))
      .length,
    logprobs: eventsOf.map((own) =>
      own.flatMap((event) => (event.type === 'token' ? (event.logprobs?.logprob ?? []) : [])),
    ),
    promptLogprobs: eventsOf.map((own) =>
      own
        .flatMap((event) => (event.type === 'prompt-scored' ? event.logprobs : []))
        .flatMap(({ logprob }) => logprob ?? []),
    ),
    largestBatch: Math.max(0, ...batchSizes),
    /** Forward passes that the last prompt took. */
    numPrefills: steps.filter(
      ({ kind, rows }) => kind === 'prefill' && rows.some(({ requestId }) => requestId === ids.at(-1)),
    ).length,
    numReusedTokens,
  };
}

const PROMPTS = [
  'Once upon a time, there was a little girl named Lily.',
  'Tom had a red ball. He liked to',
  'One day, a big dog',
  'The sun was',
  'Once upon a time, there was a little girl named Lily. She loved to play outside in the park with her friends every day.',
  'Mia and Ben went to the',
] as const;
const SAMPLINGS: readonly Partial<SamplingParams>[] = [
  {},
  { temperature: 0.9, topK: 40 },
  { temperature: 1.2, topP: 0.9, minP: 0.02 },
  { temperature: 0.8, repetitionPenalty: 1.3, frequencyPenalty: 0.5 },
];
const POLICIES = ['off', 'static', 'continuous'] as const;
const NUM_TARGETS = 12;

export interface TrialOptions {
  readonly count: number;
  /** New tokens of each target. The other rows of its batch have random, smaller numbers. */
  readonly maxNewTokens: number;
}

/**
 * Runs fixed requests again and again, each time with other batch-mates, arrivals, policy, batch size, with or without prefix
 * caching and pipelining, and compares their tokens with those of the same request alone.
 *
 * @returns One line for each request whose tokens differ, and counts that show what has happened.
 */
export async function runTrials(choice: ModelChoice, seed: number, { count, maxNewTokens }: TrialOptions) {
  const model = await openModel(choice);
  const random = seededRandom(seed);
  const below = (limit: number): number => Math.floor(limit * random());
  const pick = <Item>(items: readonly [Item, ...(readonly Item[])]): Item =>
    items[below(items.length)] ?? items[0];
  const draft = (sampling: Partial<SamplingParams> = {}, ownSeed = below(2 ** 32), fewest = 1): Draft => ({
    promptTokenIds: model.tokenizer.encode(pick(PROMPTS)),
    maxNewTokens: fewest + below(maxNewTokens + 1 - fewest),
    sampling: { ...GREEDY, ...sampling, seed: ownSeed },
  });
  const targets = Array.from({ length: NUM_TARGETS }, (_, index) =>
    draft(SAMPLINGS[index % SAMPLINGS.length], index, maxNewTokens),
  );
  const alone = new Map<Draft, string | undefined>();
  const differences: string[] = [];
  const counts = { largestBatch: 0, numPipelined: 0, numSharedPrefills: 0, numReusedTokens: 0 };
  for (let trial = 0; trial < count; trial += 1) {
    const target = targets[below(NUM_TARGETS)] ?? draft();
    // Sizes rotate. The first trial is the largest batch, with every feature on.
    const isFirst = trial === 0;
    const isWhole = isFirst || random() < 0.5;
    const numOthers = 15 - (trial % 15);
    const policy = {
      policy: isFirst ? 'static' : pick(POLICIES),
      maxBatchSize: numOthers + 1,
      batchWaitTimeoutMs: 0,
      maxBatchedTokens: isWhole ? 512 : pick([8, 64, 256]),
      prefixCaching: isFirst || random() < 0.5,
    };
    const isPipelined = model.backend.isPipelined && (isFirst || random() < 0.5);
    const arriving = (arrival: Draft) => ({ draft: arrival, afterSteps: isWhole ? 0 : below(8) });
    const others = Array.from({ length: numOthers }, () =>
      arriving(draft(SAMPLINGS[below(SAMPLINGS.length)], undefined, isWhole ? maxNewTokens / 2 : 1)),
    );
    const place = below(numOthers + 1);
    const arrivals = others.toSpliced(place, 0, arriving(target));
    const played = await play(model, { policy, isPipelined, arrivals });
    if (!alone.has(target)) alone.set(target, await playAlone(model, target));
    const [expected, got] = [alone.get(target), textOf(played.finished[place])];
    if (got !== expected) {
      const how = `${policy.policy}, ${numOthers} mates, caching ${policy.prefixCaching}, pipelined ${isPipelined}`;
      differences.push(`trial ${trial}, ${how}: ${got} instead of ${expected}`);
    }
    counts.largestBatch = Math.max(counts.largestBatch, ...played.batchSizes);
    counts.numPipelined += Number(isPipelined);
    counts.numSharedPrefills += played.numSharedPrefills;
    counts.numReusedTokens += played.numReusedTokens;
  }
  return { differences, ...counts };
}

async function playAlone(model: ProbeModel, target: Draft): Promise<string | undefined> {
  const policy = { policy: 'off', prefixCaching: false } as const;
  const { finished } = await play(model, {
    policy,
    isPipelined: false,
    arrivals: [{ draft: target, afterSteps: 0 }],
  });
  return textOf(finished[0]);
}

function textOf(end: FinishedEvent | undefined): string | undefined {
  return end?.tokenIds.join();
}
