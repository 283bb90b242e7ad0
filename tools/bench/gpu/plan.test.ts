import { describe, expect, it } from 'vitest';

import { casesOf, promptsOf, requestsOf, takesPart, type Matrix } from './plan.ts';

const MATRIX: Matrix = { rows: [1, 4], prefillLengths: [32, 64], contextLengths: [48], numNewTokens: 8 };

const at = (rows: number) => ({ kind: 'decode', length: 48, rows }) as const;

describe('casesOf', () => {
  it('has every length at every number of rows, the fewest rows first', () => {
    expect(casesOf(MATRIX).map(({ kind, length, rows }) => `${rows} ${kind} ${length}`)).toEqual([
      '1 prefill 32',
      '1 prefill 64',
      '1 decode 48',
      '4 prefill 32',
      '4 prefill 64',
      '4 decode 48',
    ]);
  });
});

describe('requestsOf', () => {
  it('asks for one token after a prompt of the whole length', () => {
    const requests = requestsOf({ kind: 'prefill', length: 32, rows: 4 }, MATRIX);
    expect(requests.map(({ prompt, maxNewTokens }) => [prompt.length, maxNewTokens])).toEqual(
      Array.from({ length: 4 }, () => [32, 1]),
    );
  });

  it('leaves room in the context for the text', () => {
    const [request] = requestsOf({ kind: 'decode', length: 48, rows: 1 }, MATRIX);
    expect([request?.prompt.length, request?.maxNewTokens]).toEqual([40, 8]);
  });

  it('refuses a context that the text alone fills', () => {
    expect(() => requestsOf({ kind: 'decode', length: 8, rows: 1 }, MATRIX)).toThrow('more than 8 tokens');
  });
});

describe('promptsOf', () => {
  it('makes the same distinct prompts in every round, of letters and single spaces', () => {
    const prompts = promptsOf(32, 100);
    expect(new Set(prompts.map((prompt) => prompt.slice(0, 12))).size).toBe(32);
    expect(prompts).toEqual(promptsOf(32, 100));
    for (const prompt of prompts) expect(prompt).toMatch(/^[a-z]+( [a-z]+)*$/);
  });
});

describe('takesPart', () => {
  it('times one by one for one request only, and lists from two requests on', () => {
    expect([takesPart('pipeline-one', at(1)), takesPart('pipeline-one', at(2))]).toEqual([true, false]);
    expect([takesPart('pipeline-list', at(1)), takesPart('pipeline-list', at(2))]).toEqual([false, true]);
    expect([takesPart('tabserve', at(1)), takesPart('wllama', at(32))]).toEqual([true, true]);
  });
});
