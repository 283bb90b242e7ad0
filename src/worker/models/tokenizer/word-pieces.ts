import * as v from 'valibot';

import { corruptTokenizer } from './tokenizer-parts.ts';
import type { SubwordModel, TokenIds } from './subword-model.ts';

const given = v.object({
  unk_token: v.string(),
  continuing_subword_prefix: v.string(),
  max_input_chars_per_word: v.pipe(v.number(), v.integer(), v.minValue(0)),
});

/** WordPiece: the longest token that a word begins with, again and again. @throws ModelFileCorruptError */
export function readWordPieces(model: unknown, vocab: TokenIds): SubwordModel {
  const parsed = v.safeParse(given, model);
  if (!parsed.success) throw corruptTokenizer('its WordPiece model lacks an option');
  const {
    unk_token: unknown,
    continuing_subword_prefix: prefix,
    max_input_chars_per_word: maxLength,
  } = parsed.output;
  const unknownId = vocab.get(unknown);
  if (unknownId === undefined) throw corruptTokenizer(`its vocabulary lacks the unknown token ${unknown}`);
  // No token is longer, so no longer one is looked for.
  let longest = 0;
  for (const token of vocab.keys()) longest = Math.max(longest, token.length);

  const piecesOf = (word: string): readonly number[] => {
    const ids: number[] = [];
    for (let start = 0; start < word.length;) {
      const found = longestAt(word, start);
      if (!found) return [unknownId];
      ids.push(found.id);
      start = found.end;
    }
    return ids;
  };
  const longestAt = (
    word: string,
    start: number,
  ): { readonly id: number; readonly end: number } | undefined => {
    for (let end = Math.min(word.length, start + longest); end > start; end--) {
      const id = vocab.get((start > 0 ? prefix : '') + word.slice(start, end));
      if (id !== undefined) return { id, end };
    }
    return undefined;
  };
  return {
    *tokenize(word) {
      yield word.length;
      return isLongerThan(word, maxLength) ? [unknownId] : piecesOf(word);
    },
  };
}

/** In characters. */
function isLongerThan(word: string, maxLength: number): boolean {
  return word.length > maxLength && Array.from(word).length > maxLength;
}
