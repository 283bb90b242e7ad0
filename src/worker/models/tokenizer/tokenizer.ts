import type { PreTrainedTokenizer } from '@huggingface/transformers';

import { isRecord } from '../../../platform/is-record.ts';
import { importPart } from '../../import-part.ts';
import { ModelFileCorruptError } from '../../../protocol/errors/model.ts';
import type { ByteTextStream } from './text-stream.ts';
import { readChatTemplate, type ChatTemplate } from './chat-template.ts';
import { requireBoundedPatterns } from './bounded-patterns.ts';
import { encodeInPieces } from './encode-in-pieces.ts';
import { Vocabulary } from './vocabulary.ts';

/** Text <-> token ids of one model. */
export interface Tokenizer {
  /** @param addSpecialTokens Whether to add the tokens that the tokenizer puts around a text; true by default. */
  encode(text: string, addSpecialTokens?: boolean): number[];
  /** The same tokens, in pieces of some milliseconds. */
  encodeInPieces(text: string, addSpecialTokens?: boolean): Generator<void, number[]>;
  readonly vocabulary: Pick<Vocabulary, 'spell' | 'decode' | 'bytesOf'>;
  /** A text with more than n times as many UTF-16 units has more than n tokens. */
  readonly maxTokenLength: number;
  /**
   * The tokenizer's own end token, if it has one. Some chat models name only their base model's end token in
   * `generation_config.json`, so their answers would not end. vLLM also stops at the tokenizer's end token.
   */
  readonly endTokenIds: readonly number[];
  /** Writes a chat as the text that the model was trained on; undefined for a base model. */
  readonly chatTemplate: ChatTemplate | undefined;
  /**
   * A decoder for one sequence's tokens, fed one by one.
   *
   * @param isWholeText Whether they begin a text; false by default: a continuation keeps its first space.
   */
  createTextStream(isWholeText?: boolean): ByteTextStream;
}

/**
 * Builds the tokenizer with @huggingface/transformers.
 *
 * @throws ModelFileCorruptError where the files do not make a tokenizer.
 * @throws UnsupportedModelError for a tokenizer that is neither BPE nor WordPiece, or whose regular expressions may take forever.
 */
export async function createTokenizer(tokenizerJson: unknown, tokenizerConfig: unknown): Promise<Tokenizer> {
  const vocabulary = new Vocabulary(tokenizerJson);
  requireBoundedPatterns(tokenizerJson);
  const tokenizer = await loadTokenizer(
    tokenizerForLibrary(tokenizerJson),
    configForLibrary(tokenizerConfig),
  );
  // Undefined where there is no such token, which the library's types leave out.
  const endTokenId: number | undefined = tokenizer.eos_token_id;
  return {
    encode: (text, addSpecialTokens = true) =>
      tokenizer.encode(text, { add_special_tokens: addSpecialTokens }),
    encodeInPieces: (text, addSpecialTokens = true) =>
      // oxlint-disable-next-line no-underscore-dangle -- its parts are needed one by one
      encodeInPieces(tokenizer._tokenizer, text, addSpecialTokens),
    vocabulary,
    maxTokenLength: vocabulary.maxTokenLength,
    endTokenIds: endTokenId === undefined ? [] : [endTokenId],
    chatTemplate: await readChatTemplate(isRecord(tokenizerConfig) ? tokenizerConfig : {}),
    createTextStream: (isWholeText = false) => vocabulary.createTextStream(isWholeText),
  };
}

async function loadTokenizer(tokenizerJson: object, config: object): Promise<PreTrainedTokenizer> {
  // Loaded on demand: the library is large and only its tokenizers are used.
  const library = await importPart(() => import('@huggingface/transformers'));
  try {
    return new library.PreTrainedTokenizer(tokenizerJson, config);
  } catch (cause) {
    throw ModelFileCorruptError.of('tokenizer.json', 'no tokenizer can be built from it', cause);
  }
}

/** A `tokenizer.json` for @huggingface/transformers, which requires fields that a file may leave out. */
function tokenizerForLibrary(tokenizerJson: unknown): object {
  const fields = isRecord(tokenizerJson) ? tokenizerJson : {};
  return {
    normalizer: null,
    post_processor: null,
    decoder: null,
    added_tokens: [],
    ...fields,
    pre_tokenizer: preTokenizerForLibrary(fields['pre_tokenizer'] ?? null),
  };
}

/** The library's `Digits` splits at ASCII digits only; huggingface/tokenizers at all numerals (`½`, `٣`, `Ⅷ`). */
function preTokenizerForLibrary(preTokenizer: unknown): unknown {
  if (!isRecord(preTokenizer)) return preTokenizer;
  if (preTokenizer['type'] === 'Digits') {
    const pattern = { Regex: preTokenizer['individual_digits'] === true ? '\\p{N}' : '\\p{N}+' };
    return { type: 'Split', pattern, behavior: 'Isolated', invert: false };
  }
  const { pretokenizers } = preTokenizer;
  return Array.isArray(pretokenizers)
    ? { ...preTokenizer, pretokenizers: pretokenizers.map(preTokenizerForLibrary) }
    : preTokenizer;
}

/** A `tokenizer_config.json` for the library: each special token is a text, where files also have objects. */
function configForLibrary(tokenizerConfig: unknown): object {
  const fields = Object.entries(isRecord(tokenizerConfig) ? tokenizerConfig : {});
  return Object.fromEntries(
    fields.map(([name, value]) => [
      name,
      name.endsWith('_token') && isRecord(value) ? value['content'] : value,
    ]),
  );
}
