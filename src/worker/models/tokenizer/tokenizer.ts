import type { PreTrainedTokenizer } from '@huggingface/transformers';
import { importPart } from '../../platform/import-part.ts';
import { isRecord } from '../../platform/is-record.ts';
import type { ChatMessage } from '../../protocol/chat.ts';
import { ChatTemplateError, ModelFileCorruptError } from '../../protocol/errors/model.ts';
import { ByteTextStream, readTokenBytes } from '../../text-generation/text-stream.ts';
import { Vocabulary } from './vocabulary.ts';

/** Text <-> token ids of one model. */
export interface Tokenizer {
  /** @param addSpecialTokens Whether to add the tokens that the tokenizer puts around a text; true by default. */
  encode(text: string, addSpecialTokens?: boolean): number[];
  readonly vocabulary: Pick<Vocabulary, 'spell' | 'decode'>;
  /** The longest token in bytes of UTF-8. A text with more than n times as many characters has more than n tokens. */
  readonly maxTokenBytes: number;
  /** Writes a chat as the text that the model was trained on; undefined for a base model. */
  readonly chatTemplate: ChatTemplate | undefined;
  /** A decoder for one sequence's output, fed token by token. */
  createTextStream(): ByteTextStream;
}

/** How a model's chats are written. */
export interface ChatTemplate {
  /**
   * Renders the messages and the beginning of the model's answer. The text has its special tokens already.
   *
   * @param variables Further variables of the template, such as `enable_thinking`.
   * @throws ChatTemplateError
   */
  render(messages: readonly ChatMessage[], variables?: Readonly<Record<string, unknown>>): string;
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
    chatTemplate: chatTemplateOf(tokenizer),
    createTextStream: () => new ByteTextStream(bytesOfToken),
  };
}

function chatTemplateOf(tokenizer: PreTrainedTokenizer): ChatTemplate | undefined {
  if (tokenizer.chat_template == null) return undefined;
  return {
    render(messages, variables = {}) {
      try {
        return tokenizer.apply_chat_template([...messages], {
          ...variables,
          tokenize: false,
          add_generation_prompt: true,
        });
      } catch (cause) {
        throw ChatTemplateError.of(cause instanceof Error ? cause.message : String(cause), cause);
      }
    },
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
