/** GPT-2's spelling of bytes: printable ones stand for themselves, the others for characters from U+0100 on. */
function spellBytes(): readonly string[] {
  let next = 0x100;
  return Array.from({ length: 256 }, (_, byte) => {
    const isPrintable = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
    return String.fromCharCode(isPrintable ? byte : next++);
  });
}

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
  const tokens = Array.from({ length: vocabSize }, (_, id) => `Ġw${id}`);
  for (const [byte, spelling] of spellBytes().entries()) tokens[byte] = spelling;
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
