import { describe, expect, it } from 'vitest';
import { logitBiasWithin } from './logit-bias.ts';

const validate = logitBiasWithin(10);

const biases = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, id) => [id, 1]));

describe('logitBiasWithin', () => {
  it('accepts biases for known tokens, and none at all', () => {
    expect(validate('logitBias', { 0: -100, 9: 100, 3: 0.5 })).toEqual({ 0: -100, 9: 100, 3: 0.5 });
    expect(validate('logitBias', {})).toEqual({});
  });

  it('says what it expects and what it got', () => {
    expect(() => validate('logitBias', { 10: 1 })).toThrow(
      'Expected `logitBias` to be a record of at most 300 biases from -100 to 100 by token id below 10, ' +
        'got `token id 10` (string)',
    );
    expect(() => validate('logitBias', { 3: 101 })).toThrow('Expected `logitBias[3]` to be a finite number');
  });

  it('leaves the vocabulary open where it is not known', () => {
    expect(logitBiasWithin(Infinity)('logitBias', { 50256: 1 })).toEqual({ 50256: 1 });
    expect(() => logitBiasWithin(Infinity)('logitBias', { end: 1 })).toThrow('by token id, got');
  });
});

describe('rejects', () => {
  it.each([
    ['no record', [null, 7, 'bias', [1, 2]]],
    ['an unknown token', [{ 10: 1 }, { '-1': 1 }, { 1.5: 1 }]],
    ['a key that is no id', [{ the: 1 }, { '07': 1 }, { ' 7': 1 }, { '1e0': 1 }, { '': 1 }]],
    ['a bias out of range', [{ 1: 100.5 }, { 1: -101 }, { 1: NaN }, { 1: '3' }, { 1: undefined }]],
  ])('%s', (_, values) => {
    for (const value of values) {
      expect(() => validate('logitBias', value)).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }));
    }
  });

  it('more than 300 entries', () => {
    expect(Object.keys(logitBiasWithin(1000)('logitBias', biases(300)))).toHaveLength(300);
    expect(() => logitBiasWithin(1000)('logitBias', biases(301))).toThrow('got `301 entries`');
  });
});
