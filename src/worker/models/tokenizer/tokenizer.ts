import type { PreTrainedTokenizer } from '@huggingface/transformers';
import { importPart } from '../../platform/import-part.ts';
import { isRecord } from '../../platform/is-record.ts';
import { ModelFileCorruptError } from '../../protocol/errors/model.ts';
import { ByteTextStream, readTokenBytes } from '../../text-generation/text-stream.ts';
import { Vocabulary } from './vocabulary.ts';

/** Text <-> token ids of one model. */
export interface Tokenizer {
  /** @param addSpecialTokens Whether to add the tokens that the tokenizer puts around a text; true by default. */
  encode(text: string, addSpecialTokens?: boolean): number[];
  readonly vocabulary: Pick<Vocabulary, 'spell' | 'decode'>;
  /** The longest token in bytes of UTF-8. A text with more than n times as many characters has more than n tokens. */
  readonly maxTokenBytes: number;
  /** A decoder for one sequence's output, fed token by token. */
  createTextStream(): ByteTextStream;
}

/** The longest special token, as it is spelled in a text. */
const MAX_SPECIAL_BYTES = 64;

/**
 * Builds the tokenizer with `AutoTokenizer` of @huggingface/transformers. Its fetches are answered from memory.
 *
 * @throws ModelFileCorruptError where the files do not make a byte-level tokenizer.
 */
export async function createTokenizer(tokenizerJson: unknown, tokenizerConfig: unknown): Promise<Tokenizer> {
  const bytesOfToken = readTokenBytes(tokenizerJson);
  const tokenizer = await loadAutoTokenizer({
    // The library requires a field that a file without a normalizer may leave out.
    'tokenizer.json': isRecord(tokenizerJson) ? { normalizer: null, ...tokenizerJson } : tokenizerJson,
    'tokenizer_config.json': tokenizerConfig,
  });
  return {
    encode: (text, addSpecialTokens = true) =>
      tokenizer.encode(text, { add_special_tokens: addSpecialTokens }),
    vocabulary: new Vocabulary(bytesOfToken, tokenizerJson),
    maxTokenBytes: Math.max(...Array.from(bytesOfToken.values(), ({ length }) => length), MAX_SPECIAL_BYTES),
    createTextStream: () => new ByteTextStream(bytesOfToken),
  };
}

async function loadAutoTokenizer(files: Readonly<Record<string, unknown>>): Promise<PreTrainedTokenizer> {
  // Loaded on demand: the library is large and only its tokenizers are used.
  const { AutoTokenizer, env } = await importPart(() => import('@huggingface/transformers'));
  env.allowLocalModels = false;
  env.useBrowserCache = false;
  env.fetch = (url: string | URL) => Promise.resolve(answerFrom(files, String(url)));
  try {
    return await AutoTokenizer.from_pretrained('model');
  } catch (cause) {
    throw ModelFileCorruptError.of('tokenizer.json', 'no tokenizer can be built from it', cause);
  }
}

function answerFrom(files: Readonly<Record<string, unknown>>, url: string): Response {
  const name = Object.keys(files).find((file) => url.endsWith(`/${file}`));
  return name === undefined ? new Response(null, { status: 404 }) : Response.json(files[name]);
}
