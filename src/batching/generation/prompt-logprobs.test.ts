import { describe, expect, it } from 'vitest';
import { InvalidOptionError } from '../base/errors.ts';
import { createEngine, describeStep, requestId, settle, type EngineOverrides } from './test-support.ts';

/** Names of one character: prompt token i of `a` is 9700 + i. */
const tokensOf = (name: string, length: number): number[] =>
  Array.from({ length }, (_, index) => name.charCodeAt(0) * 100 + index);

async function run(name: string, request: object, overrides: EngineOverrides = {}) {
  const engine = createEngine(overrides);
  engine.submit(name, request);
  await settle();
  return engine;
}

describe('a prompt that is scored', () => {
  it('has the logprobs of each of its tokens but the first, before its first output token', async () => {
    const { listener } = await run('a', { promptLength: 4, maxNewTokens: 2, promptLogprobs: 3 });
    const [event] = listener.of('prompt-scored');
    expect(event?.logprobs).toEqual(
      tokensOf('a', 4).map((tokenId, index) => ({
        tokenId,
        logprob: index === 0 ? null : -tokenId / 1000,
        top: [],
      })),
    );
    expect(listener.log).toEqual([
      'prefill of 1',
      'a started',
      'a scored 4',
      'a token',
      'decode of 1',
      'a token',
      'a finished length',
    ]);
  });

  it('tells its runner which tokens it scores, and how many of the likeliest', async () => {
    const { runner } = await run('a', { promptLength: 3, maxNewTokens: 1, promptLogprobs: 5 });
    expect(runner.steps[0]?.rows[0]?.scoring).toEqual({ targetTokenIds: [9701, 9702], numLogprobs: 5 });
  });

  it('is told once, however many chunks it takes', async () => {
    const { listener, steps } = await run(
      'a',
      { promptLength: 7, maxNewTokens: 1, promptLogprobs: 0 },
      { runner: { maxScoredTokens: 3 } },
    );
    expect(steps()).toEqual(['prefill a 0+3 @0', 'prefill a 3+3 @0', 'prefill a 6+1 @0 last']);
    expect(
      listener.of('prompt-scored').map(({ logprobs }) => logprobs.map(({ tokenId }) => tokenId)),
    ).toEqual([tokensOf('a', 7)]);
  });

  it('of one token has no logprob, and is told all the same', async () => {
    const { listener } = await run('a', { promptLength: 1, maxNewTokens: 0, promptLogprobs: 1 });
    expect(listener.of('prompt-scored')).toMatchObject([{ logprobs: [{ tokenId: 9700, logprob: null }] }]);
  });

  it('is computed in whole, even where another row holds its prefix', async () => {
    const { submit, runner, steps } = createEngine({ policy: { prefixCaching: true } });
    const promptTokenIds = tokensOf('a', 40);
    submit('a', { promptTokenIds, maxNewTokens: 1 });
    await settle();
    submit('b', { promptTokenIds, maxNewTokens: 1, promptLogprobs: 0 });
    await settle();
    expect(steps()).toEqual(['prefill a 0+40 @0 last', 'prefill b 0+40 @0 last, 0⇒1']);
    expect(runner.violations).toEqual([]);
  });

  it('shares its prefill step with no other prompt', async () => {
    const { submit, steps, runner } = createEngine({ runner: { maxPrefillRows: 8 } });
    submit('a', { maxNewTokens: 1 });
    submit('b', { maxNewTokens: 1, promptLogprobs: 0 });
    submit('c', { maxNewTokens: 1 });
    await settle();
    expect(steps()[0]).toBe('prefill a 0+3 @0 last');
    expect(steps()[1]).toBe('prefill b 0+3 @0 last');
    expect(runner.violations).toEqual([]);
  });

  it('is told once where it is resumed before its logprobs had come, and what was generated is not scored', async () => {
    const { listener, runner } = await run('a', {
      promptLength: 2,
      resumedTokenIds: [5, 6],
      maxNewTokens: 3,
      promptLogprobs: 0,
    });
    expect(listener.of('prompt-scored').map(({ logprobs }) => logprobs.length)).toEqual([2]);
    expect(runner.steps[0]?.rows[0]?.scoring?.targetTokenIds).toEqual([9701]);
  });

  it('fails its own request alone where its logits have no softmax', async () => {
    const { submit, listener } = createEngine({ runner: { promptScores: () => new RangeError('NaN') } });
    submit('a', { promptLogprobs: 0 });
    submit('b', { maxNewTokens: 1 });
    await settle();
    expect(listener.of('failed').map(({ requestId: id, error }) => [id, error.message])).toEqual([
      ['a', 'NaN'],
    ]);
    expect(listener.of('finished').map(({ requestId: id }) => id)).toEqual(['b']);
  });

  it('may be cancelled between two of its chunks', async () => {
    const { engine, submit, listener } = createEngine({
      runner: { maxScoredTokens: 1, onStart: (step) => seen.push(describeStep(step)) },
    });
    const seen: string[] = [];
    submit('a', { promptLength: 5, promptLogprobs: 0 });
    await settle(3);
    engine.abortAll([requestId('a')]);
    await settle();
    expect(seen.length).toBeLessThan(5);
    expect(listener.of('failed')).toMatchObject([{ finishReason: 'abort' }]);
    expect(listener.of('prompt-scored')).toEqual([]);
  });
});

describe('a request for no token', () => {
  it('ends when its prompt is computed, with length', async () => {
    const { listener, engine } = await run('a', { maxNewTokens: 0 });
    expect(listener.log).toEqual(['prefill of 1', 'a started', 'a finished length']);
    expect(listener.of('finished')).toMatchObject([
      { tokenIds: [], numPromptTokens: 3, numOutputTokens: 0, timings: { ttftMs: 12, e2eMs: 12, tpotMs: 0 } },
    ]);
    expect(engine.numRunning).toBe(0);
  });

  it('may have a prompt that fills the context', async () => {
    const { listener, runner } = await run('a', { promptLength: 64, maxNewTokens: 0, promptLogprobs: 0 });
    expect(listener.of('prompt-scored').map(({ logprobs }) => logprobs.length)).toEqual([64]);
    expect(runner.violations).toEqual([]);
  });

  it('runs beside others that generate, and takes no step of theirs', async () => {
    const { submit, listener, runner } = createEngine({ runner: { maxPrefillRows: 4 } });
    for (const name of 'abcd') submit(name, { maxNewTokens: name < 'c' ? 0 : 2 });
    await settle();
    expect(listener.of('finished').map(({ requestId: id, tokenIds }) => [id, tokenIds.length])).toEqual([
      ['a', 0],
      ['b', 0],
      ['c', 2],
      ['d', 2],
    ]);
    expect(runner.violations).toEqual([]);
  });

  it.each([
    ['a prompt beyond the context', { promptLength: 65, maxNewTokens: 0 }],
    ['a prompt without room for a token that is asked for', { promptLength: 64, maxNewTokens: 1 }],
    ['less than no token', { maxNewTokens: -1 }],
    ['tokens that were generated before', { maxNewTokens: 0, resumedTokenIds: [1] }],
  ])('is refused with %s', (_, request) => {
    const { submit } = createEngine();
    expect(() => submit('a', request)).toThrow(InvalidOptionError);
  });
});
