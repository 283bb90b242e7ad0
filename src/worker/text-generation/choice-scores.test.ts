import { describe, expect, it } from 'vitest';
import type { GenerationOptions } from '../../protocol/generation.ts';
import { createClientId, createRequestId } from '../../protocol/ids.ts';
import type { Resumption } from '../../protocol/requests.ts';
import { runToEnd } from '../test-support.ts';
import { ChoiceScores } from './choice-scores.ts';
import { createGenerator, resultIn } from './test-support.ts';

// The model finds the next letter e times as likely as each other token.
const LIKELY_LATER = { type: 'choice', choices: ['czz', 'xyz'] } as const;

describe('A choice with logprobs', () => {
  it('is the likeliest whole text, where its first token is not the likeliest', async () => {
    const scored = await answer({ responseFormat: LIKELY_LATER, logprobs: 0 });
    expect(scored.generatedText).toBe('xyz');
    const [first = 0, second = 0] = scored.choiceProbabilities ?? [];
    expect(second / first).toBeCloseTo(Math.E, 6);
    expect((await answer({ responseFormat: LIKELY_LATER })).generatedText).toBe('czz');
  });

  it('is the likeliest of any texts, for each of its continuations, and its tokens spell it', async () => {
    for (let seed = 0; seed < 12; seed += 1) {
      const letter = (index: number): string => 'abcdefg'[(seed * 7 + index * (seed + 3)) % 7] ?? '';
      const texts = Array.from({ length: 9 }, (_, row) =>
        Array.from({ length: 1 + ((row + seed) % 4) }, (_each, index) => letter(row * 5 + index)).join(''),
      );
      const choices = [...new Set(texts)];
      const result = await answer({ responseFormat: { type: 'choice', choices }, logprobs: 0, n: 2, seed });
      const { choiceProbabilities = [] } = result;
      const likeliest = choices[choiceProbabilities.indexOf(Math.max(...choiceProbabilities))];
      expect(result.choices.map(({ generatedText }) => generatedText)).toEqual([likeliest, likeliest]);
      expect(choiceProbabilities.reduce((sum, each) => sum + each, 0)).toBeCloseTo(1, 9);
    }
  });

  it('has its prompt read once, and its texts and its answer scored beside each other', async () => {
    const choices = ['czz', 'xyz', 'abc', 'qqq'];
    const responseFormat = { type: 'choice', choices } as const;
    const { steps } = await run({ responseFormat, logprobs: 0 }, { input: 'p'.repeat(40) });
    expect(steps.filter((step) => step.startsWith('prefill'))).toEqual(['prefill 1: 40']);
    expect(Math.max(...steps.map((step) => Number(step.split(/[ :]/)[1])))).toBeGreaterThanOrEqual(3);
    expect(steps.length).toBeLessThan(12);
  });

  it('is refused where the prompt leaves no room for its longest text', async () => {
    const responseFormat = { type: 'choice', choices: ['a', 'x'.repeat(60)] } as const;
    const { contextLength } = createGenerator().model.config;
    const input = 'p'.repeat(contextLength - 59);
    await expect(run({ responseFormat, logprobs: 0 }, { input })).rejects.toMatchObject({
      code: 'PROMPT_TOO_LONG',
    });
    const fits = await run({ responseFormat, logprobs: 0 }, { input: input.slice(1) });
    expect(resultIn(fits.updates).choiceProbabilities).toHaveLength(2);
  });

  it('counts a text that begins a longer one without the share of that', async () => {
    const responseFormat = { type: 'choice', choices: ['c', 'cd', 'cde', 'cx'] } as const;
    const { choiceProbabilities } = await answer({ responseFormat, logprobs: 0 });
    const next = Math.E / (Math.E + 63);
    const other = 1 / (Math.E + 63);
    const shares = [1 - next - other, next * (1 - next), next * next, other];
    for (const [index, share] of shares.entries()) expect(choiceProbabilities?.[index]).toBeCloseTo(share, 6);
  });

  it('is drawn by its probability above temperature 0', async () => {
    const options = { responseFormat: LIKELY_LATER, logprobs: 0, temperature: 0.5, n: 16 };
    const results = [];
    for (let seed = 0; seed < 6; seed += 1) results.push(...(await answer({ ...options, seed })).choices);
    const numSecond = results.filter(({ generatedText }) => generatedText === 'xyz').length;
    // e² to 1, within four standard deviations.
    const share = Math.E ** 2 / (Math.E ** 2 + 1);
    expect(Math.abs(numSecond / results.length - share)).toBeLessThan(
      4 * Math.sqrt((share * (1 - share)) / results.length),
    );
  });

  it('is written in the tokens that its probability is of, also where others spell it likelier', async () => {
    const responseFormat = { type: 'choice', choices: ['dzz', 'xyz'] } as const;
    const options = { responseFormat, logprobs: 0 };
    const { tokenIds, logprobs, choiceProbabilities } = await answer(options, [[2, 'x']]);
    expect(tokenIds).toEqual([23, 24, 25]);
    const sum = (logprobs ?? []).reduce((total, { logprob }) => total + logprob, 0);
    const [first = 0, second = 0] = choiceProbabilities ?? [];
    // Of three tokens, none of which is the likeliest.
    const other = -3 * Math.log(Math.E + 63);
    expect(sum - other).toBeCloseTo(Math.log(second / first), 5);
  });

  it('has no space before it where the tokenizer puts one before each text', () => {
    const { tokenizer, modelInfo } = createGenerator(new Map([[40, Uint8Array.of(0x20)]])).model;
    const encode = (text: string): number[] => [40, ...tokenizer.encode(text.replace('\n', 'a'))];
    const spaced = { ...tokenizer, encode };
    const { vocabSize } = modelInfo;
    const [scoring] = new ChoiceScores(['xyz'], createRequestId(), 1, {
      tokenizer: spaced,
      vocabSize,
    }).requestsFor({ clientId: createClientId(), promptTokenIds: [0] });
    expect(scoring).toMatchObject({ promptTokenIds: [0], maxNewTokens: 3 });
    expect(scoring?.constraint?.ahead?.()?.forced).toBe(23);
  });

  it('is refused by name where the tokenizer would write another text', async () => {
    const refused = answer({ responseFormat: LIKELY_LATER, logprobs: 0 }, [[25, 'Z']]);
    await expect(refused).rejects.toMatchObject({
      code: 'RESPONSE_FORMAT_UNSUPPORTED',
      param: 'responseFormat.choices[0]',
    });
  });

  it('goes on with the text that a lost worker began, and starts once', async () => {
    const options = { responseFormat: LIKELY_LATER, logprobs: 0 };
    const { updates } = await run(options, { resumption: { choices: [{ tokenIds: [2] }] } });
    expect(resultIn(updates).generatedText).toBe('czz');
    expect(updates.filter(({ type }) => type === 'started')).toHaveLength(1);
    expect(updates[0]).toMatchObject({ type: 'started' });
  });

  it('measures from the submission, the scores included', async () => {
    const { timings, usage } = await answer({ responseFormat: LIKELY_LATER, logprobs: 0 });
    expect(timings.e2eMs).toBeGreaterThanOrEqual(timings.ttftMs);
    expect(timings.ttftMs).toBeGreaterThanOrEqual(timings.queueWaitMs);
    expect(usage).toMatchObject({ numPromptTokens: 2, numOutputTokens: 3 });
  });

  it('ends at once where it is cancelled before its scores are there', async () => {
    const { generator, updates } = await run(
      { responseFormat: LIKELY_LATER, logprobs: 0 },
      { isCancelled: true },
    );
    expect(updates.map(({ type }) => type)).toEqual(['failed']);
    expect(generator.gauges).toMatchObject({ numRunning: 0, numWaiting: 0 });
  });
});

/** @param spellings Of tokens that don't stand for their letter. */
async function answer(options: GenerationOptions, spellings: readonly (readonly [number, string])[] = []) {
  const bytes = new Map(spellings.map(([id, text]) => [id, new TextEncoder().encode(text)]));
  return resultIn((await run(options, { bytes })).updates);
}

interface RunOptions {
  readonly resumption?: Resumption;
  readonly isCancelled?: boolean;
  readonly input?: string;
  readonly bytes?: ReadonlyMap<number, Uint8Array>;
}

async function run(
  options: GenerationOptions,
  { resumption, isCancelled = false, input = 'ab', bytes }: RunOptions = {},
) {
  const { generator, updates, steps, whenEnded } = createGenerator(bytes);
  const requestId = createRequestId();
  const submission = { requestId, clientId: createClientId(), input, options, elapsedMs: 0 };
  const submitted = { ...submission, ...(resumption && { resumption }) };
  const shapes = await generator.prepare([submitted]);
  runToEnd(generator.readAll([submitted], shapes)).value();
  if (isCancelled) generator.cancel(requestId);
  await whenEnded(requestId);
  return { generator, updates, steps };
}
