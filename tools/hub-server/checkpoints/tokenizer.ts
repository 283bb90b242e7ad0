import { spellBytes } from '../../../src/worker/models/tokenizer/token-decoder.ts';

const END_OF_TEXT = ['<|endoftext|>'];

/**
 * A token per byte, in their order; the others are words that no text is encoded to.
 *
 * @param specialTokens The last ones. The very last one ends a text.
 * @param marks Tokens before those, whose text is part of an answer.
 */
export function byteVocabulary(
  vocabSize: number,
  specialTokens: readonly string[] = END_OF_TEXT,
  marks: readonly string[] = [],
): Readonly<Record<string, number>> {
  const last = [...marks, ...specialTokens];
  const tokens = Array.from({ length: vocabSize }, (_, id) =>
    id < 256 ? spellBytes(Uint8Array.of(id)) : `Ġw${id}`,
  );
  tokens.splice(-last.length, last.length, ...last);
  return Object.fromEntries(tokens.map((token, id) => [token, id]));
}

/** `tokenizer.json` of `byteVocabulary`. */
export function byteTokenizer(
  vocabSize: number,
  specialTokens: readonly string[] = END_OF_TEXT,
  marks: readonly string[] = [],
): object {
  const byteLevel = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true };
  const added = [...marks, ...specialTokens];
  const firstAdded = vocabSize - added.length;
  return {
    version: '1.0',
    added_tokens: added.map((content, i) => ({
      id: firstAdded + i,
      content,
      special: i >= marks.length,
    })),
    pre_tokenizer: byteLevel,
    post_processor: byteLevel,
    decoder: byteLevel,
    model: { type: 'BPE', vocab: byteVocabulary(vocabSize, specialTokens, marks), merges: [] },
  };
}
