import { describe, expect, it } from 'vitest';

import { CASE_NAMES, casesOf } from './cases.ts';
import { parseOptions } from './options.ts';

describe('parseOptions', () => {
  it('takes every case by default', () => {
    expect(parseOptions([]).cases).toEqual(CASE_NAMES);
  });

  it('takes the cases that are listed', () => {
    expect(parseOptions(['--cases', 'prompts,eight']).cases).toEqual(['prompts', 'eight']);
  });

  it('names the known cases if one is unknown', () => {
    expect(() => parseOptions(['--cases', 'eight,nine'])).toThrow(/alone, eight, .*got `nine`/);
    expect(() => parseOptions(['--cases', ''])).toThrow('got ``');
  });
});

describe('parseOptions of a real model', () => {
  it('takes fewer rounds unless they are given', () => {
    expect(parseOptions([])).toMatchObject({ model: 'storyteller', rounds: 5 });
    expect(parseOptions(['--model', 'smollm2'])).toMatchObject({ model: 'smollm2', rounds: 2 });
    expect(() => parseOptions(['--model', 'gpt2'])).toThrow('storyteller or smollm2');
  });

  it('has one request and eight, of prompts of one length', () => {
    const cases = casesOf(CASE_NAMES, 'wasm', 'smollm2');
    expect(cases.map(({ name, requests }) => `${name}: ${requests.length}`)).toEqual([
      'alone: 1',
      'eight: 8',
    ]);
  });
});

describe('casesOf', () => {
  it('has a case for each name', () => {
    expect(casesOf(CASE_NAMES, 'wasm').map(({ name }) => name)).toEqual(CASE_NAMES);
  });

  it('keeps the order of the tables', () => {
    expect(casesOf(['prompts', 'eight'], 'wasm').map(({ name }) => name)).toEqual(['eight', 'prompts']);
  });

  it('counts the tokens of long prompts only', () => {
    expect(casesOf(['eight', 'prompts'], 'wasm').map(({ numPromptTokens }) => numPromptTokens)).toEqual([
      undefined,
      8 * 400,
    ]);
  });
});
