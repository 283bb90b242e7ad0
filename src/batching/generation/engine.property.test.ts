import { isDeepStrictEqual } from 'node:util';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BackPressureError, InvalidOptionError, KvBudgetError } from '../base/errors.ts';
import type { Engine } from './engine.ts';
import type { RequestEvent } from './events.ts';
import type { Step, StepRow } from './model-runner.ts';
import type { BatchingPolicy } from './policy.ts';
import {
  clientId,
  createEngine,
  createKvCacheLimits,
  EOS,
  nextToken,
  repeatingToken,
  requestId,
  ScriptedConstraint,
  settle,
  tokensAlone,
} from './test-support.ts';
import { GREEDY, type GenerationRequest, type TokenConstraint } from './request.ts';
import type { RequestId } from '../base/ids.ts';
import { runsOf } from '../testing/whole-run.ts';

const NUM_RUNS = runsOf({ whole: 1000, part: 150 });
const CONTEXT_LENGTH = 64;

type Action =
  | {
      readonly type: 'submit';
      readonly client: number;
      readonly promptTokenIds: number[];
      readonly maxNewTokens: number;
      readonly promptLogprobs: number | undefined;
      readonly priority: number;
      readonly isBackground: boolean;
      /** `stops` after a token that 5 divides; `scripted` masks tokens, and forces some. */
      readonly constrained: keyof typeof CONSTRAINTS;
      /** Output tokens that were generated before. */
      readonly numResumed: number;
    }
  | { readonly type: 'abort'; readonly target: number }
  | { readonly type: 'configure'; readonly knobs: Partial<BatchingPolicy> }
  | { readonly type: 'wait'; readonly ms: number }
  | { readonly type: 'run'; readonly numTurns: number };

interface Scenario {
  readonly isPipelined: boolean;
  /** Short ones let more steps be in flight. */
  readonly runMs: number;
  readonly bytesPerRow: number;
  readonly maxPrefillRows: number;
  readonly maxScoredTokens: number;
  readonly maxGuessedTokens: number;
  /** Whether texts repeat themselves, so that guesses are right now and then. */
  readonly isRepetitive: boolean;
  readonly policy: BatchingPolicy;
  readonly actions: readonly Action[];
  /** Steps that the runner rejects, and steps of which it spoils one row. */
  readonly rejectedSteps: readonly number[];
  readonly spoiltSteps: readonly number[];
}

const knobs = {
  policy: fc.constantFrom('off' as const, 'static' as const, 'continuous' as const),
  maxBatchSize: fc.integer({ min: 1, max: 6 }),
  batchWaitTimeoutMs: fc.constantFrom(0, 5, 50),
  maxBatchedTokens: fc.integer({ min: 1, max: 64 }),
  prefillStallMs: fc.constantFrom('auto' as const, 0, 5, Infinity),
  maxQueuedRequests: fc.constantFrom(3, 10, Infinity),
  prefixCaching: fc.boolean(),
  promptLookup: fc.boolean(),
  kvCacheMemoryBytes: fc.constantFrom(100, 150, 300, Infinity),
  maxContextLength: fc.constantFrom(10, 45, 63, 4096, Infinity),
};

/** Some begin alike, some are the same. */
const prompt = fc
  .record({
    numShared: fc.oneof(fc.nat({ max: 4 }), fc.integer({ min: 30, max: 50 })),
    own: fc.array(fc.integer({ min: 1, max: 5000 }), { maxLength: 12 }),
  })
  .map(({ numShared, own }) => [...Array.from({ length: numShared }, (_, index) => 1 + index), ...own])
  .filter((tokenIds) => tokenIds.length > 0 && tokenIds.length < CONTEXT_LENGTH);

const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      type: fc.constant('submit' as const),
      client: fc.nat({ max: 3 }),
      promptTokenIds: prompt,
      maxNewTokens: fc.oneof(fc.constant(0), { weight: 8, arbitrary: fc.integer({ min: 1, max: 20 }) }),
      promptLogprobs: fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, fc.nat({ max: 2 })),
      priority: fc.integer({ min: -1, max: 1 }),
      isBackground: fc.boolean(),
      constrained: fc.constantFrom('none' as const, 'stops' as const, 'scripted' as const),
      numResumed: fc.oneof(fc.constant(0), fc.nat({ max: 20 })),
    }),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('abort' as const), target: fc.nat() }) },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant('configure' as const),
      knobs: fc.record(knobs, { requiredKeys: [] }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('wait' as const), ms: fc.nat({ max: 60 }) }) },
  { weight: 4, arbitrary: fc.record({ type: fc.constant('run' as const), numTurns: fc.nat({ max: 60 }) }) },
);

const anyScenario: fc.Arbitrary<Scenario> = fc.record({
  isPipelined: fc.boolean(),
  runMs: fc.constantFrom(0, 3, 10),
  bytesPerRow: fc.constantFrom(0, 0, 7),
  maxPrefillRows: fc.constantFrom(1, 2, 8),
  maxScoredTokens: fc.constantFrom(1, 5, 1000),
  maxGuessedTokens: fc.constantFrom(0, 3, 100),
  isRepetitive: fc.boolean(),
  policy: fc.record(knobs),
  actions: fc.array(action, { maxLength: 40, size: 'max' }),
  rejectedSteps: fc.array(fc.nat({ max: 150 }), { maxLength: 3 }),
  spoiltSteps: fc.array(fc.nat({ max: 150 }), { maxLength: 3 }),
});

interface Accepted {
  readonly request: GenerationRequest;
  readonly constrained: keyof typeof CONSTRAINTS;
  /** The model's, or the policy's when it arrived. */
  readonly contextLength: number;
  readonly tokenAfter: typeof nextToken;
}

/** Checks every scheduled step and every event against the engine's invariants. */
function createReferee(isBackground: (id: RequestId) => boolean) {
  const violations: string[] = [];
  const history = new Map<RequestId, RequestEvent[]>();
  const decoding = new Set<RequestId>();
  let numPrefilledTokens = 0;
  let numRanBefore = 0;
  let budgetBefore = 0;
  const check = (holds: boolean, violation: string): void => {
    if (!holds) violations.push(violation);
  };

  function watchStep(step: Step, engine: Engine): void {
    const { policy, maxBatchSize, maxBatchedTokens } = engine.policy;
    const limit = policy === 'off' ? 1 : maxBatchSize;
    check(engine.numRunning <= Math.max(limit, numRanBefore), `${engine.numRunning} run of at most ${limit}`);
    numRanBefore = engine.numRunning;
    if (step.kind === 'decode') {
      const [known, joining] = [true, false].map((isKnown) =>
        step.rows.filter((row) => decoding.has(row.requestId) === isKnown),
      );
      const rowIds = new Set(step.rows.map((row) => row.requestId));
      for (const id of decoding) if (isBackground(id) && !rowIds.has(id)) decoding.delete(id);
      check(known?.length === decoding.size, `${known?.length} rows of ${decoding.size} that decode`);
      const mayJoin = ({ requestId: id }: StepRow): boolean => !history.has(id) || isBackground(id);
      check(joining?.every(mayJoin) ?? false, 'a row decodes that should not');
      numPrefilledTokens = 0;
      budgetBefore = maxBatchedTokens;
      return;
    }
    // Prompts of the others keep background rows waiting.
    if ([...decoding].every(isBackground)) numPrefilledTokens = 0;
    const lengths = step.rows.map(({ tokenIds }) => tokenIds.length);
    numPrefilledTokens += lengths.length * Math.max(...lengths);
    // A jump was decided under the policy of the step before.
    const isJump = step.rows.some((row) => decoding.has(row.requestId));
    const budget = isJump ? Math.max(maxBatchedTokens, budgetBefore) : maxBatchedTokens;
    budgetBefore = maxBatchedTokens;
    check(numPrefilledTokens <= budget, `${numPrefilledTokens} tokens prefilled of ${budget}`);
  }

  function watchEvents(events: readonly RequestEvent[]): void {
    for (const event of events) {
      history.set(event.requestId, [...(history.get(event.requestId) ?? []), event]);
      if (event.type === 'token') decoding.add(event.requestId);
      if (event.type === 'finished' || event.type === 'failed') decoding.delete(event.requestId);
    }
  }

  return { violations, history, watchStep, watchEvents };
}

async function play(scenario: Scenario) {
  const { bytesPerRow, maxPrefillRows, maxScoredTokens, policy, actions } = scenario;
  // A device does one or the other. Neither does one that guesses keep fixed state.
  const maxGuessedTokens = bytesPerRow > 0 ? 0 : scenario.maxGuessedTokens;
  const isPipelined = scenario.isPipelined && maxGuessedTokens === 0;
  const tokenAfter = scenario.isRepetitive ? repeatingToken : nextToken;
  const { rejectedSteps, spoiltSteps } = scenario;
  const accepted: Accepted[] = [];
  const background = new Set<RequestId>();
  const referee = createReferee((id) => background.has(id));
  let numRuns = 0;
  const { engine, runner, clock } = createEngine({
    contextLength: CONTEXT_LENGTH,
    policy,
    listener: {
      onStep: (event) => referee.watchEvents(event.requests),
      onEnded: (events) => referee.watchEvents(events),
    },
    runner: {
      isPipelined,
      runMs: scenario.runMs,
      kvCacheLimits: createKvCacheLimits({ bytesPerRow }),
      maxPrefillRows,
      maxScoredTokens,
      maxGuessedTokens,
      nextToken: tokenAfter,
      onStart: (step) => referee.watchStep(step, engine),
      onRun: () => {
        numRuns += 1;
        if (rejectedSteps.includes(numRuns)) throw new Error('device lost');
      },
      answer: (_, tokenIds) =>
        tokenIds.map((tokenId, row) => {
          return row === numRuns % 3 && spoiltSteps.includes(numRuns) ? new Error('NaN') : tokenId;
        }),
    },
  });
  const act = async (next: Action): Promise<void> => {
    switch (next.type) {
      case 'submit': {
        const { client, constrained, numResumed, type: _, ...given } = next;
        const { promptTokenIds, maxNewTokens } = given;
        const id = requestId(`r${accepted.length}`);
        const fresh = {
          id,
          clientId: clientId(`c${client}`),
          ...given,
          sampling: GREEDY,
        };
        const { contextLength } = engine;
        const generated = await resumable({ request: fresh, contextLength, constrained, tokenAfter });
        const resumedTokenIds = generated.slice(0, numResumed);
        const constraint = CONSTRAINTS[constrained](resumedTokenIds);
        const request = { ...fresh, resumedTokenIds, ...(constraint && { constraint }) };
        const isTooLong = promptTokenIds.length > contextLength - Math.min(1, maxNewTokens);
        try {
          if (given.isBackground) background.add(id);
          engine.submitAll([request]);
          accepted.push({ request, contextLength, constrained, tokenAfter });
          if (isTooLong) throw new Error('It took a request that exceeds the context.');
        } catch (error) {
          const isExpected = error instanceof BackPressureError || error instanceof KvBudgetError;
          if (!isExpected && !(isTooLong && error instanceof InvalidOptionError)) throw error;
        }
        return;
      }
      case 'abort':
        engine.abortAll([requestId(`r${next.target % (accepted.length + 1)}`)]);
        return;
      case 'configure':
        engine.configure(next.knobs);
        return;
      case 'wait':
        clock.advance(next.ms);
        return;
      case 'run':
        await settle(next.numTurns);
        return;
      default:
        next satisfies never;
    }
  };
  for (const next of actions) {
    await act(next);
    expect(clock.pendingTimers).toBeLessThanOrEqual(Math.min(1, engine.numWaiting));
  }
  for (let turn = 0; turn < 500 && engine.numRunning + engine.numWaiting > 0; turn += 1) {
    await settle(50);
    clock.advance(50);
  }
  await settle(50);
  return { engine, runner, clock, referee, accepted };
}

describe('whatever arrives, ends, fails or is turned', () => {
  it('every request settles once, batches stay dense and bounded, and texts are what they are alone', async () => {
    await fc.assert(
      fc.asyncProperty(anyScenario, async (played) => {
        const { engine, runner, clock, referee, accepted } = await play(played);
        expect([...runner.violations, ...referee.violations]).toEqual([]);
        expect([engine.numRunning, engine.numWaiting]).toEqual([0, 0]);
        expect(clock.pendingTimers).toBe(0);
        expect([...referee.history.keys()].toSorted()).toEqual(
          accepted.map(({ request }) => request.id).toSorted(),
        );
        const problems = accepted.map((entry) =>
          problemsOf(entry, referee.history.get(entry.request.id) ?? []),
        );
        expect((await Promise.all(problems)).flat()).toEqual([]);
      }),
      { numRuns: NUM_RUNS },
    );
  }, 600_000);
});

const stopsAfter = (tokenId: number): boolean => tokenId !== EOS && tokenId % 5 === 0;

/** Constraints that have accepted these tokens. */
const CONSTRAINTS = {
  none: () => undefined,
  stops: () => ({ accept: stopsAfter }),
  scripted: (prior) => new ScriptedConstraint(prior),
} satisfies Record<string, (prior: readonly number[]) => TokenConstraint | undefined>;

/** The tokens of a request that runs alone, and whether its constraint ends it. */
async function alone({ request, contextLength, constrained, tokenAfter }: Accepted) {
  const tokenIds = await tokensAlone(request, contextLength, CONSTRAINTS[constrained]([]), tokenAfter);
  const constraint = CONSTRAINTS[constrained](tokenIds.slice(0, -1));
  return { tokenIds, isStopped: tokenIds.length > 0 && (await constraint?.accept(tokenIds.at(-1) ?? EOS)) };
}

/** The tokens that a lost engine may have generated of it: all but the last, as that one ends it. */
async function resumable(entry: Accepted): Promise<readonly number[]> {
  const { request, contextLength } = entry;
  const room = Math.min(request.maxNewTokens, contextLength - request.promptTokenIds.length);
  const { tokenIds, isStopped } = await alone(entry);
  return tokenIds.slice(0, isStopped ? -1 : Math.max(0, room - 1));
}

/**
 * The order of events: started, prompt-scored if requested, token…, then exactly one end. The tokens equal those of the
 * request when it runs alone, or are a prefix of them.
 */
async function problemsOf(entry: Accepted, events: readonly RequestEvent[]): Promise<string[]> {
  const { request } = entry;
  const { tokenIds, isStopped } = await alone(entry);
  const { resumedTokenIds = [] } = request;
  const streamed = events.flatMap((event) => (event.type === 'token' ? [event.tokenId] : []));
  const types = events.map((event) => event.type);
  const last = events.at(-1);
  const isWhole = last?.type === 'finished';
  const scored = events.find((event) => event.type === 'prompt-scored');
  const isScored = request.promptLogprobs !== undefined && (isWhole || streamed.length > 0 || scored);
  const story = [
    ...(types[0] === 'started' ? ['started'] : []),
    ...(isScored ? ['prompt-scored'] : []),
    ...streamed.map(() => 'token'),
    last?.type,
  ];
  const fresh = tokenIds.slice(resumedTokenIds.length);
  const expected = isWhole ? fresh : fresh.slice(0, streamed.length);
  const numSampled = tokenIds.length + (isWhole && last.finishReason === 'stop' && !isStopped ? 1 : 0);
  return [
    ...(isDeepStrictEqual(types, story) ? [] : [`${request.id}: ${types.join(', ')}`]),
    ...(!scored ||
    isDeepStrictEqual(
      scored.logprobs.map(({ tokenId }) => tokenId),
      request.promptTokenIds,
    )
      ? []
      : [`${request.id} scored another prompt`]),
    ...(isWhole || last?.type === 'failed' ? [] : [`${request.id} does not end`]),
    ...(isDeepStrictEqual(streamed, expected) ? [] : [`${request.id} streamed other tokens than alone`]),
    ...(!isWhole || isDeepStrictEqual(last.tokenIds, tokenIds)
      ? []
      : [`${request.id} ended with other tokens`]),
    ...(!isWhole || last.numOutputTokens === numSampled
      ? []
      : [`${request.id} counted ${last.numOutputTokens}`]),
    ...(!isWhole || types[0] === 'started' ? [] : [`${request.id} never started`]),
  ];
}
