import { describe, expect, it } from 'vitest';
import { allowToken, emptyMask, isAllowed } from '../../../batching/sampling/token-mask.ts';
import { StringCounter, TokenCharacters } from './string-lengths.ts';

const TOKENS = ['"', 'a', 'née', '😀😀', '"]', '", "', 'a", "', '""', '"a', '"abcde', '\u0001'];

const encoder = new TextEncoder();

/** The tokens that fit behind a text, where the strings have 2 to 4 characters, or any number. */
function fitting(text: string, isCounted: boolean): readonly string[] {
  const characters = new TokenCharacters();
  for (const [tokenId, token] of TOKENS.entries()) characters.add(tokenId, encoder.encode(token));
  const counter = new StringCounter([{ min: 2, max: 4 }], characters, TOKENS.length);
  counter.add(encoder.encode(text));
  const mask = emptyMask(TOKENS.length + 1);
  for (const tokenId of TOKENS.keys()) allowToken(mask, tokenId);
  if (isCounted) allowToken(mask, TOKENS.length);
  counter.restrict(mask);
  return TOKENS.filter((_, tokenId) => isAllowed(mask, tokenId));
}

describe('in a string of 2 to 4 characters', () => {
  it.each([
    ['["', ['a', 'née', '😀😀']],
    ['["né', ['"', 'a', '😀😀', '"]', '", "', 'a", "', '""', '"a', '"abcde']],
    ['["long before", "abcd', ['"', '"]', '", "', '""', '"a', '"abcde']],
  ])('behind %s, only those tokens fit that neither end it too early nor too late', (text, expected) => {
    expect(fitting(text, true)).toEqual(expected);
  });
});

it('no token begins and ends a string that could be too short, or begins one that could be too long', () => {
  expect(fitting('{', false)).toEqual(TOKENS.filter((token) => !['""', '"abcde', '\u0001'].includes(token)));
});
