import { expect, it } from 'vitest';
import { HashedTokens } from './hashed-tokens.ts';
import { PromptLookup } from './prompt-lookup.ts';

/** @param firstOutput Where the output begins; by default, all is prompt. */
function lookupIn(tokenIds: readonly number[], firstOutput = tokenIds.length) {
  const tokens = new HashedTokens(tokenIds);
  return { tokens, lookup: new PromptLookup(tokens, firstOutput) };
}

it('guesses what followed the last two tokens where they stood before', () => {
  const { lookup } = lookupIn([1, 2, 3, 4, 5, 6, 1, 2, 3]);
  expect(lookup.guess(2)).toEqual([4, 5]);
  expect(lookup.guess(9)).toEqual([4, 5, 6, 1, 2, 3, 4, 5, 6]);
});

it.each([
  ['one token is alike', [1, 2, 3, 4, 9, 3]],
  ['two are alike in another order', [1, 2, 3, 4, 2, 1]],
  ['there are too few', [1, 1]],
  ['there are none', []],
])('guesses nothing where %s', (_, tokenIds) => {
  expect(lookupIn(tokenIds).lookup.guess(4)).toEqual([]);
});

it('takes the latest of several places', () => {
  expect(lookupIn([1, 2, 3, 4, 1, 2, 3, 5, 1, 2, 3]).lookup.guess(1)).toEqual([5]);
});

it('goes on behind a right token, and at a wrong one looks for another place', () => {
  const { tokens, lookup } = lookupIn([1, 2, 3, 4, 5, 7, 8, 9, 6, 1, 2, 3]);
  tokens.push(4);
  expect(lookup.guess(1)).toEqual([5]);
  tokens.push(7);
  expect(lookup.guess(1)).toEqual([]);
  tokens.push(8);
  tokens.push(9);
  expect(lookup.guess(2)).toEqual([6, 1]);
});

it('rates what it would have guessed, without being asked', () => {
  const { tokens, lookup } = lookupIn([1, 2, 3, 4, 5, 6, 1, 2, 3]);
  const unknown = lookup.hitRate;
  for (const tokenId of [4, 5, 6]) tokens.push(tokenId);
  const { hitRate } = lookup;
  expect(hitRate).toBeGreaterThan(unknown);
  expect(hitRate).toBeLessThan(1);
  tokens.push(9);
  expect(lookup.hitRate).toBeLessThan(hitRate);
});

it('rates outputs alone: a prompt that repeats itself was not guessed', () => {
  const prompt = [1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4];
  expect(lookupIn(prompt).lookup.hitRate).toBe(0.5);
  expect(lookupIn(prompt, 4).lookup.hitRate).toBeGreaterThan(0.5);
});
