import { runToEnd } from '../../../platform/in-pieces.ts';
import { isRecord } from '../../../platform/is-record.ts';
import { importPart } from '../../import-part.ts';
import { TokenWithoutEmbeddingError } from '../../../protocol/errors/deployments.ts';
import { ModelFileCorruptError } from '../../../protocol/errors/model.ts';
import type { ByteTextStream } from './text-stream.ts';
import { readChatTemplate, type ChatTemplate } from './chat-template.ts';
import { TokenizerPipeline } from './pipeline.ts';
import type { Frames } from './special-tokens.ts';
import { readTokenTable, requireRows, type TokenTable } from './token-table.ts';
import { Vocabulary } from './vocabulary.ts';

/** Text <-> token ids of one model. */
export interface Tokenizer {
  /** @param addSpecialTokens Whether to add the tokens that the tokenizer puts around a text; true by default. */
  encode(text: string, addSpecialTokens?: boolean): number[];
  /** The same tokens, in pieces of some milliseconds. */
  encodeInPieces(text: string, addSpecialTokens?: boolean): Generator<void, number[]>;
  /** What is put around one text, and around two. */
  readonly frames: Frames;
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
      if (foreign) throw TokenWithoutEmbeddingError.of(foreign.content, foreign.id, numRows);
    }
    return ids;
  };
  const endTokenId = await endTokenOf(table, configForLibrary(tokenizerConfig));
  return {
    encode: (text, addSpecialTokens) => runToEnd(encodeInPieces(text, addSpecialTokens)),
    encodeInPieces,
    frames: pipeline.frames,
    vocabulary,
    maxTokenLength: vocabulary.maxTokenLength,
    endTokenIds: endTokenId === undefined || endTokenId >= numRows ? [] : [endTokenId],
    chatTemplate: await readChatTemplate(takesChats && isRecord(tokenizerConfig) ? tokenizerConfig : {}),
    createTextStream: (isWholeText = false) => vocabulary.createTextStream(isWholeText),
  };
}

/** Its tokens of texts would be others in many cases, see docs/models.md: it gets the special ones alone. */
const WITHOUT_TEXT = {
  normalizer: null,
  pre_tokenizer: null,
  post_processor: null,
  decoder: null,
  added_tokens: [],
};

/** The library knows which tokens a configuration names. Undefined where it names no end, or one that isn't there. */
async function endTokenOf(
  { vocab, addedTokens }: TokenTable,
  config: Readonly<Record<string, unknown>>,
): Promise<number | undefined> {
  // Loaded on demand: the library is large.
  const library = await importPart(() => import('@huggingface/transformers'));
  const ids = new Map(addedTokens.map(({ content, id }) => [content, id]));
  const named = Object.values(config).filter((value) => typeof value === 'string');
  const known = named.flatMap((token) => {
    const id = ids.get(token) ?? vocab.get(token);
    return id === undefined ? [] : [[token, id] as const];
  });
  const model = { type: 'BPE', vocab: Object.fromEntries(known), merges: [] };
  try {
    return new library.PreTrainedTokenizer({ ...WITHOUT_TEXT, model }, config).eos_token_id;
  } catch (cause) {
    throw ModelFileCorruptError.of('tokenizer_config.json', 'its tokens cannot be read', cause);
  }
}

/** A `tokenizer_config.json` for the library: each special token is a text, where files also have objects. */
function configForLibrary(tokenizerConfig: unknown): Readonly<Record<string, unknown>> {
  const fields = Object.entries(isRecord(tokenizerConfig) ? tokenizerConfig : {});
  return Object.fromEntries(
    fields.map(([name, value]) => [
      name,
      name.endsWith('_token') && isRecord(value) ? value['content'] : value,
    ]),
  );
}
