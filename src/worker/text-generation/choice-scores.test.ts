import { describe, expect, it } from 'vitest';
import type { GenerationOptions } from '../../protocol/generation.ts';
import { createClientId, createRequestId } from '../../protocol/ids.ts';
import type { Resumption } from '../../protocol/requests.ts';
import { runToEnd } from '../test-support.ts';
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

  it('goes on with the text that a lost worker began, and starts once', async () => {
    const options = { responseFormat: LIKELY_LATER, logprobs: 0 };
    const { updates } = await run(options, { choices: [{ tokenIds: [2] }] });
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
    const { generator, updates } = await run({ responseFormat: LIKELY_LATER, logprobs: 0 }, undefined, true);
    expect(updates.map(({ type }) => type)).toEqual(['failed']);
    expect(generator.gauges).toMatchObject({ numRunning: 0, numWaiting: 0 });
  });
});

async function answer(options: GenerationOptions) {
  return resultIn((await run(options)).updates);
}

async function run(options: GenerationOptions, resumption?: Resumption, isCancelled = false) {
  const { generator, updates, whenEnded } = createGenerator();
  const requestId = createRequestId();
  const submission = { requestId, clientId: createClientId(), input: 'ab', options, elapsedMs: 0 };
  const submitted = { ...submission, ...(resumption && { resumption }) };
  const shapes = await generator.prepare([submitted]);
  runToEnd(generator.readAll([submitted], shapes)).value();
  if (isCancelled) generator.cancel(requestId);
  await whenEnded(requestId);
  return { generator, updates };
}
