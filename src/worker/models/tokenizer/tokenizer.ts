import { runToEnd } from '../../../platform/in-pieces.ts';
import { isRecord } from '../../../platform/is-record.ts';
import type { ByteTextStream } from './text-stream.ts';
import { readChatTemplate, type ChatTemplate } from './chat-template.ts';
import { TokenizerPipeline } from './pipeline.ts';
import type { Frames } from './special-tokens.ts';
import { readTokenTable, requireRows, type TokenTable } from './token-table.ts';
import { Vocabulary } from './vocabulary.ts';
import { tokenWithoutEmbedding } from '../../../protocol/errors/deployment-messages.ts';

/** Text <-> token ids of one model. */
export interface Tokenizer {
  /** @param addSpecialTokens Whether to add the tokens that the tokenizer puts around a text; true by default. */
  encode(text: string, addSpecialTokens?: boolean): number[];
  /** The same tokens, in pieces of some milliseconds. */
  encodeInPieces(text: string, addSpecialTokens?: boolean): Generator<void, number[]>;
  /** Special tokens around one text, and around two. */
  readonly frames: Frames;
  readonly vocabulary: Pick<Vocabulary, 'spell' | 'decode'> & {
    /** The bytes of a token in a text; undefined for one that is no part of it. */
    bytesOf(tokenId: number): Uint8Array | undefined;
  };
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
  /** The same tokenizer with these tokens as part of texts, also where they are special. The same object for the same tokens. */
  withTokens(spellings: readonly string[]): Tokenizer;
}

/**
 * Builds the tokenizer.
 *
 * @param numRows Of the model's embedding: a text with a token beyond it is refused.
 * @param takesChats False for an encoder, whose chat template isn't read.
 * @throws ModelFileCorruptError where the files do not make a tokenizer.
 * @throws UnsupportedModelError for a tokenizer that can't be computed as huggingface/tokenizers does.
 */
export async function createTokenizer(
  tokenizerJson: unknown,
  tokenizerConfig: unknown,
  numRows = Infinity,
  takesChats = true,
): Promise<Tokenizer> {
  // Its code comes while the tables are made. A failure of theirs goes first.
  const chatTemplate = readChatTemplate(takesChats && isRecord(tokenizerConfig) ? tokenizerConfig : {});
  chatTemplate.catch(() => {});
  const table = readTokenTable(tokenizerJson);
  const vocabulary = new Vocabulary(tokenizerJson, table);
  const pipeline = new TokenizerPipeline(tokenizerJson, table);
  requireRows(table, pipeline.frames, numRows);
  const beyond = table.addedTokens.filter(({ id }) => id >= numRows);
  const encodeInPieces = function* encodeInPieces(
    text: string,
    addSpecialTokens = true,
  ): Generator<void, number[]> {
    const ids = yield* pipeline.encode(text, addSpecialTokens);
    if (beyond.length > 0) {
      const foreign = beyond.find(({ id }) => ids.includes(id));
      if (foreign) throw tokenWithoutEmbedding(foreign.content, foreign.id, numRows);
    }
    return ids;
  };
  const endTokenId = endTokenOf(table, tokenizerConfig);
  const views = new Map<string, Tokenizer>();
  const tokenizer: Tokenizer = {
    encode: (text, addSpecialTokens) => runToEnd(encodeInPieces(text, addSpecialTokens)),
    encodeInPieces,
    frames: pipeline.frames,
    vocabulary,
    maxTokenLength: vocabulary.maxTokenLength,
    endTokenIds: endTokenId === undefined || endTokenId >= numRows ? [] : [endTokenId],
    chatTemplate: await chatTemplate,
    createTextStream: (isWholeText = false) => vocabulary.createTextStream(isWholeText),
    withTokens: (spellings) => {
      const shownIds = vocabulary.specialIdsOf(spellings);
      if (shownIds.size === 0) return tokenizer;
      const key = [...shownIds].join(' ');
      const view = views.get(key) ?? viewOf(tokenizer, vocabulary, shownIds);
      views.set(key, view);
      return view;
    },
  };
  return tokenizer;
}

function viewOf(tokenizer: Tokenizer, vocabulary: Vocabulary, shownIds: ReadonlySet<number>): Tokenizer {
  return {
    ...tokenizer,
    vocabulary: {
      spell: (tokenId) => vocabulary.spell(tokenId),
      decode: (tokenIds) => vocabulary.decode(tokenIds),
      bytesOf: (tokenId) => vocabulary.bytesOf(tokenId, shownIds),
    },
    createTextStream: (isWholeText = false) => vocabulary.createTextStream(isWholeText, shownIds),
  };
}

/** Undefined where the configuration names no end, or one that isn't there. Files have its text, or an object with it. */
function endTokenOf({ vocab, addedTokens }: TokenTable, tokenizerConfig: unknown): number | undefined {
  const given = isRecord(tokenizerConfig) ? tokenizerConfig['eos_token'] : undefined;
  const text = isRecord(given) ? given['content'] : given;
  if (typeof text !== 'string') return undefined;
  return addedTokens.find(({ content }) => content === text)?.id ?? vocab.get(text);
}
