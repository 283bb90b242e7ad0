import { describe, expect, it } from 'vitest';
import { FAULT, readRecord, RECORD, tokenIdOf } from './sample-record.ts';

describe('tokenIdOf', () => {
  it('is the result word itself', () => {
    expect([0, 50_256].map(tokenIdOf)).toEqual([0, 50_256]);
  });

  it.each([
    [FAULT.nan + 7, 'Expected the logit of token 7 to be finite, got NaN'],
    [FAULT.plusInfinity + 50_256, 'Expected the logit of token 50256 to be finite, got Infinity'],
    [FAULT.onlyMinusInfinity, 'Expected a finite logit, got -Infinity for every token'],
  ])('throws for a fault what the sampler on the CPU throws: %i', (result, message) => {
    expect(() => tokenIdOf(result)).toThrow(new RangeError(message));
  });
});

describe('readRecord', () => {
  it('makes logprobs of logits and total, the likeliest first and the lower id among equals', () => {
    const words = new Uint32Array(RECORD.length);
    const floats = new Float32Array(words.buffer);
    floats[RECORD.sampledLogit] = 1;
    floats[RECORD.largestLogit] = 3;
    // Twice the largest weight.
    words[RECORD.totalHigh] = 1;
    words[RECORD.numTop] = 3;
    words.set([9, 5, 2], RECORD.topIds);
    floats.set([2, 3, 2], RECORD.topLogits);
    expect(readRecord(words, 4)).toEqual({
      tokenId: 4,
      logprob: -2 - Math.LN2,
      top: [
        { tokenId: 5, logprob: -Math.LN2 },
        { tokenId: 2, logprob: -1 - Math.LN2 },
        { tokenId: 9, logprob: -1 - Math.LN2 },
      ],
    });
  });
});
