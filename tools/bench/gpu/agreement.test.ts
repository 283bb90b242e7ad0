import { describe, expect, it } from 'vitest';

import { agreementOf } from './agreement.ts';
import type { ReferenceAnswer } from './contender.ts';

const REFERENCE: ReferenceAnswer = {
  prompt: 'ab',
  tokenIds: [5, 6, 7],
  pieces: [
    { text: ' w5', numTokens: 1 },
    { text: ' w6 w7', numTokens: 2 },
  ],
  leads: [0.5, 0.05, 0.5],
  first: [
    { tokenId: 5, logprob: -1 },
    { tokenId: 9, logprob: -1.5 },
  ],
};
const right = (answer: Parameters<typeof agreementOf>[1][number], tolerance = 0.1) =>
  agreementOf([REFERENCE], [answer], tolerance);

/** The reference's likeliest token, then another one. */
const first = (second: number, tokenId = 9) => [
  { tokenId: 5, logprob: -1 },
  { tokenId, logprob: second },
];

describe('agreementOf', () => {
  it('accepts the same tokens and the same text', () => {
    expect(right({ tokenIds: [5, 6, 7] })).toEqual({
      numTokens: 3,
      numSame: 3,
      tolerance: 0.1,
      isRight: true,
    });
    expect(right({ text: ' w5 w6 w7', numTokens: 3 })).toMatchObject({ numSame: 3, isRight: true });
  });

  it("accepts another token only if the CPU's lead is within the tolerance", () => {
    expect(right({ tokenIds: [5, 8, 1] })).toMatchObject({ numSame: 1, isRight: true });
    expect(right({ tokenIds: [5, 8, 1] }, 0.01)).toMatchObject({ numSame: 1, isRight: false });
    expect(right({ tokenIds: [8, 6, 7] })).toMatchObject({ numSame: 0, isRight: false });
    expect(right({ tokenIds: [5, 6, 8] })).toMatchObject({ numSame: 2, isRight: false });
  });

  it('compares text piece by piece, without characters that are not printable ASCII', () => {
    expect(right({ text: ' w5\u{fffd} w6 w7', numTokens: 3 })).toMatchObject({ isRight: true });
    expect(right({ text: ' w5 w8 w1', numTokens: 3 })).toMatchObject({ numSame: 1, isRight: true });
    expect(right({ text: ' w8 w6 w7', numTokens: 3 })).toMatchObject({ numSame: 0, isRight: false });
    expect(right({ text: ' w5 w6 w7 w1', numTokens: 4 })).toMatchObject({ isRight: false });
  });

  it('refuses first logits that differ by more than the tolerance, or lack a likely token', () => {
    const tokenIds = REFERENCE.tokenIds;
    const near = right({ tokenIds, first: first(-1.55) });
    expect(near.difference).toBeCloseTo(0.05);
    expect(near.isRight).toBe(true);
    expect(right({ tokenIds, first: first(-1.7) }).isRight).toBe(false);
    expect(right({ tokenIds, first: first(-1.5, 8) }).isRight).toBe(false);
  });

  it('refuses a missing answer', () => {
    expect(agreementOf([REFERENCE], [], 0.1).isRight).toBe(false);
  });
});
