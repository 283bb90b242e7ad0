import * as fc from 'fast-check';
import { expect, it } from 'vitest';

import { TokenPlaces } from './token-places.ts';

/** Cuts a text's bytes into tokens, and says where each begins by decoding all before it. */
function tokensOf(text: string, cuts: readonly number[]) {
  const bytes = Buffer.from(text);
  const ends = [...new Set(cuts.map((cut) => 1 + (cut % bytes.length))), bytes.length];
  const begins = [0, ...new Set(ends.toSorted((a, b) => a - b))].slice(0, -1);
  const pieces = begins.map((begin, at) => bytes.subarray(begin, begins[at + 1]));
  const decode = (ids: readonly number[]): Promise<string> =>
    Promise.resolve(Buffer.concat(ids.map((id) => pieces[id] ?? Buffer.of())).toString());
  const tokens = pieces.map((piece, tokenId) => ({ tokenId, text: piece.toString(), logprob: -1, top: [] }));
  const before = begins.map((begin) => new TextDecoder().decode(bytes.subarray(0, begin), { stream: true }));
  return { tokens, decode, places: before.map((whole) => Array.from(whole).length) };
}

const text = fc.string({
  unit: fc.constantFrom('a', ' ', 'é', '中', '\u{1F600}'),
  minLength: 1,
  maxLength: 12,
});

it('a token begins behind the characters that are whole before it, wherever characters and pieces are cut', async () => {
  await fc.assert(
    fc.asyncProperty(text, fc.array(fc.nat(), { maxLength: 20 }), fc.nat(), async (whole, cuts, middle) => {
      const { tokens, decode, places } = tokensOf(whole, cuts);
      const read = new TokenPlaces({ decode }, false);
      const split = middle % tokens.length;
      const [first, rest] = [tokens.slice(0, split), tokens.slice(split)];
      expect([...(await read.take(first, 'A')), ...(await read.take(rest, 'A'))]).toEqual(places);
    }),
  );
});

it('counts neither special tokens, nor the space that a tokenizer puts before a whole text', async () => {
  const texts = ['', ' a', ' b', 'c'];
  const decode = (ids: readonly number[]) =>
    Promise.resolve(
      ids
        .map((id) => texts[id] ?? '')
        .join('')
        .slice(1),
    );
  const tokens = texts.map((own, tokenId) => ({ tokenId, text: own, logprob: -1, top: [] }));
  expect(await new TokenPlaces({ decode }, true).take(tokens, 'A')).toEqual([0, 0, 1, 3]);
  expect(await new TokenPlaces({ decode }, false).take(tokens, 'A')).toEqual([0, 0, 2, 4]);
});

it('text that is no UTF-8 has U+FFFD for each piece of it', async () => {
  const bytes = [0xe4, 0x61, 0x80, 0x80, 0x62, 0x63];
  const decode = (ids: readonly number[]) =>
    Promise.resolve(Buffer.from(ids.map((id) => bytes[id] ?? 0)).toString());
  const tokens = bytes.map((byte, tokenId) => ({
    tokenId,
    text: Buffer.of(byte).toString(),
    logprob: -1,
    top: [],
  }));
  expect(await new TokenPlaces({ decode }, false).take(tokens, 'A')).toEqual([0, 0, 2, 2, 3, 5]);
});
