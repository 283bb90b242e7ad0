import { describe, expect, it } from 'vitest';

import { isAsReference, referencePrompts } from './reference.ts';

const [entry] = referencePrompts;
if (!entry) throw new Error('The fixture has no prompts.');
const { prompt, greedyTokenIds } = entry;
const request = { prompt, maxNewTokens: 8 };

describe('isAsReference', () => {
  it("accepts as many of the reference's tokens as were asked for", () => {
    expect(isAsReference(request, { tokenIds: greedyTokenIds.slice(0, 8) })).toBe(true);
    expect(isAsReference(request, { tokenIds: greedyTokenIds.slice(0, 7) })).toBe(false);
    expect(isAsReference(request, { tokenIds: greedyTokenIds })).toBe(false);
  });

  it('refuses one other token', () => {
    const tokenIds = greedyTokenIds.slice(0, 8).with(7, 0);
    expect(isAsReference(request, { tokenIds })).toBe(false);
  });

  it('compares text where there are no tokens', () => {
    const text = ' there was a village without water. The';
    expect(isAsReference(request, { text, numTokens: 8 })).toBe(true);
    expect(isAsReference(request, { text: text.replace('village', 'town'), numTokens: 8 })).toBe(false);
  });
});
