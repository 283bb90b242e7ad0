import { describe, expect, it } from 'vitest';
import type { StepEvent } from './events.ts';
import { allowToken, emptyMask } from '../sampling/token-mask.ts';
import { GREEDY, type Lookahead, type TokenConstraint } from './request.ts';
import {
  createEngine,
  EOS,
  requestId,
  settle,
  type EngineOverrides,
  type RequestOverrides,
} from './test-support.ts';

/** Goes round in a circle of four tokens. */
const circle = (history: readonly number[]): number => 1 + (history.length % 4);

/** An engine whose device checks guesses, with a text of it. */
async function run(request: RequestOverrides, { runner, ...overrides }: EngineOverrides = {}) {
  const played = createEngine({
    runner: { maxGuessedTokens: 100, nextToken: circle, ...runner },
    ...overrides,
  });
  played.submit('a', { promptTokenIds: [1, 2, 3, 4], ...request });
  await settle();
  const tokens = played.listener.of('token');
  const tokenIds = tokens.map(({ tokenId }) => tokenId);
  return { ...played, tokens, tokenIds, finished: played.listener.of('finished')[0] };
}

const circleOf = (length: number): number[] => Array.from({ length }, (_, i) => 1 + (i % 4));

describe('a text that repeats itself', () => {
  it('takes a step for several tokens, more of them the more often guesses are right', async () => {
    const { tokenIds, steps, runner } = await run({ maxNewTokens: 40 });
    expect(tokenIds).toEqual(circleOf(40));
    expect(steps()).toEqual([
      'prefill a 0+4 @0 last',
      'decode a',
      'decode a',
      'decode a+1',
      'decode a+8',
      'decode a+15',
      'decode a+9',
    ]);
    expect(runner.violations).toEqual([]);
  });

  it('takes a step for each token where prompt lookup is off', async () => {
    const { steps, tokenIds } = await run({ maxNewTokens: 20 }, { policy: { promptLookup: false } });
    expect(tokenIds).toEqual(circleOf(20));
    expect(steps()).toHaveLength(20);
  });

  it('has its tokens in one event each, those behind guesses at the same time', async () => {
    const { tokens, listener } = await run({ maxNewTokens: 12 });
    expect(
      listener.steps.map(({ numGuessedTokens, numRightGuesses }) => [numGuessedTokens, numRightGuesses]),
    ).toEqual([
      [0, 0],
      [0, 0],
      [0, 0],
      [1, 1],
      [6, 6],
    ]);
    expect(tokens.map(({ ttftMs, itlMs }) => ttftMs ?? itlMs)).toEqual([
      12, 12, 12, 12, 0, 12, 0, 0, 0, 0, 0, 0,
    ]);
    expect(listener.of('finished')[0]).toMatchObject({ finishReason: 'length', numOutputTokens: 12 });
  });

  it.each([8, 9, 10, 11])('ends at an end token behind guesses, after %i tokens', async (length) => {
    const nextToken = (history: readonly number[]): number =>
      history.length === 4 + length ? EOS : circle(history);
    const { tokenIds, finished, runner } = await run({ maxNewTokens: 40 }, { runner: { nextToken } });
    expect(tokenIds).toEqual(circleOf(length));
    expect(finished).toMatchObject({ finishReason: 'stop', numOutputTokens: length + 1, tokenIds });
    expect(runner.violations).toEqual([]);
  });

  it.each([
    ['at once', (stops: boolean) => stops],
    ['later', (stops: boolean) => Promise.resolve(stops)],
  ])(
    'ends where its constraint says so %s, and what was sampled behind that is dropped',
    async (_, answer) => {
      const accepted: number[] = [];
      const constraint: TokenConstraint = {
        accept(tokenId) {
          accepted.push(tokenId);
          return answer(accepted.length === 9);
        },
      };
      const { tokenIds, finished } = await run({ maxNewTokens: 40, constraint });
      expect(accepted).toEqual(circleOf(9));
      expect(tokenIds).toEqual(circleOf(9));
      expect(finished).toMatchObject({ finishReason: 'stop', numOutputTokens: 9 });
    },
  );

  it('is dropped where it is cancelled while its constraint thinks', async () => {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    let numAccepted = 0;
    const constraint: TokenConstraint = { accept: () => (++numAccepted < 9 ? false : promise) };
    const { engine, listener } = await run({ maxNewTokens: 40, constraint });
    engine.abortAll([requestId('a')]);
    resolve(false);
    await settle();
    expect(numAccepted).toBe(9);
    expect(listener.requests.at(-1)).toMatchObject({ type: 'failed', finishReason: 'abort' });
  });

  it('leaves its row to the next prompt, up to the last right token', async () => {
    const policy = { prefixCaching: true };
    const { submit, listener, runner, tokenIds } = await run({ maxNewTokens: 40 }, { policy });
    submit('b', { promptTokenIds: [1, 2, 3, 4, ...tokenIds, 9, 9], maxNewTokens: 1 });
    await settle();
    expect(listener.of('started')[1]).toMatchObject({ numReusedTokens: 43 });
    expect(runner.violations).toEqual([]);
  });
});

/** Forces these tokens from the first one on. */
function forcing(tokenIds: readonly number[]): TokenConstraint {
  let numAccepted = 0;
  const aheadAt = (index: number): Lookahead => {
    const forced = tokenIds[index];
    const mask = emptyMask(5001);
    if (forced === undefined) mask.fill(-1);
    else allowToken(mask, forced);
    return { forced, mask, after: () => aheadAt(index + 1) };
  };
  const accept = (): boolean => {
    numAccepted += 1;
    return false;
  };
  const forced = () => tokenIds.slice(numAccepted);
  return { accept, mask: () => aheadAt(numAccepted).mask, forced, ahead: () => aheadAt(numAccepted) };
}

const tokenIdsOf = (length: number): number[] => Array.from({ length }, (_, index) => 50 + index);

describe('forced tokens', () => {
  it.each([undefined, 0])('take one step together, with %s logprobs', async (logprobs) => {
    const sampling = { ...GREEDY, logprobs };
    const { tokenIds, steps, runner, listener } = await run({
      maxNewTokens: 9,
      sampling,
      constraint: forcing(tokenIdsOf(6)),
    });
    expect(tokenIds.slice(0, 6)).toEqual(tokenIdsOf(6));
    expect(listener.steps.map(({ numGuessedTokens }) => numGuessedTokens)).toEqual(
      listener.steps.map(() => 0),
    );
    expect(steps().slice(0, 3)).toEqual(['prefill a 0+4 @0 last', 'decode a+5', 'decode a']);
    expect(runner.violations).toEqual([]);
  });

  it('take a pass without samples where they are more than a step checks', async () => {
    const { tokenIds, steps } = await run({ maxNewTokens: 22, constraint: forcing(tokenIdsOf(20)) });
    expect(tokenIds.slice(0, 20)).toEqual(tokenIdsOf(20));
    expect(steps().slice(0, 2)).toEqual(['prefill a 0+4 @0 last', 'prefill a 4+20 @0 of 0 last']);
  });
});

/** The same, but for one token. */
const broken = (history: readonly number[]): number => (history.length === 14 ? 77 : circle(history));

it('a wrong guess changes no token, and is counted', async () => {
  const { tokenIds, listener } = await run({ maxNewTokens: 12 }, { runner: { nextToken: broken } });
  const sums = (of: (step: StepEvent) => number) => listener.steps.reduce((sum, step) => sum + of(step), 0);
  expect(sums(({ numGuessedTokens }) => numGuessedTokens)).toBeGreaterThan(
    sums(({ numRightGuesses }) => numRightGuesses),
  );
  expect(tokenIds).toEqual([...circleOf(10), 77, ...circleOf(12).slice(-1)]);
});
