import { describe, expect, it } from 'vitest';

import { sameShareOf, shortPrompts } from './reference.ts';

const [entry] = shortPrompts;
if (!entry?.greedyTokenIds) throw new Error('The fixture has no prompts.');
const { prompt, greedyTokenIds } = entry;
const request = { prompt, maxNewTokens: 8 };

describe('sameShareOf', () => {
  it("is 1 for as many of the reference's tokens as were asked for", () => {
    expect(sameShareOf(request, { tokenIds: greedyTokenIds.slice(0, 8) })).toBe(1);
    expect(sameShareOf(request, { tokenIds: greedyTokenIds.slice(0, 7) })).toBe(0);
    expect(sameShareOf(request, { tokenIds: greedyTokenIds })).toBe(0);
  });

  it('counts the tokens before the first other one', () => {
    const tokenIds = greedyTokenIds.slice(0, 8).with(6, 0);
    expect(sameShareOf(request, { tokenIds })).toBe(6 / 8);
  });

  it('compares text where there are no tokens', () => {
    const text = ' there was a village without water. The';
    expect(sameShareOf(request, { text, numTokens: 8 })).toBe(1);
    expect(sameShareOf(request, { text: text.replace('village', 'hamlets'), numTokens: 8 })).toBeLessThan(
      0.4,
    );
  });

  it('knows nothing of other prompts', () => {
    expect(
      sameShareOf({ prompt: 'A prompt of no fixture', maxNewTokens: 8 }, { tokenIds: [] }),
    ).toBeUndefined();
  });
});
