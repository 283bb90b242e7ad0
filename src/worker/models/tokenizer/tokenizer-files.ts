import { isRecord } from '../../../platform/is-record.ts';
import { ModelFileCorruptError } from '../../../protocol/errors/model.ts';
import { missingFile, readJson, type CheckpointFiles } from '../formats/checkpoint-files.ts';
import { readChatTemplate } from './chat-template.ts';
import { TokenizerPipeline } from './pipeline.ts';
import { readTokenDecoder } from './token-decoder.ts';
import { readTokenTable, requireRows } from './token-table.ts';
import { wordPieceTokenizer } from './word-piece-tokenizer.ts';

export interface TokenizerFiles {
  /** Parsed `tokenizer.json`. */
  readonly tokenizer: unknown;
  /** Parsed `tokenizer_config.json`. */
  readonly tokenizerConfig: unknown;
}

/** A special token, which `vocab.json` holds without saying that it is one. */
const END_OF_TEXT = '<|endoftext|>';

/**
 * Reads the tokenizer and its chat template. Old checkpoints have `vocab.json` and `merges.txt` instead of
 * `tokenizer.json`, or BERT's `vocab.txt`.
 *
 * @throws ModelFileMissingError, ModelFileCorruptError.
 * @param numRows Of the model's embedding.
 * @param takesChats False for an encoder, whose chat template isn't read.
 * @throws UnsupportedModelError for a tokenizer that can't be computed as huggingface/tokenizers does.
 */
export async function readTokenizerFiles(
  files: CheckpointFiles,
  numRows: number,
  takesChats = true,
): Promise<TokenizerFiles> {
  const [tokenizerJson, tokenizerConfig] = await Promise.all([
    readJson(files, 'tokenizer.json'),
    readTokenizerConfig(files),
  ]);
  const tokenizer = tokenizerJson ?? (await makeTokenizer(files, tokenizerConfig));
  // A tokenizer or a chat template that cannot be computed is refused before the weights are fetched.
  readTokenDecoder(tokenizer);
  const table = readTokenTable(tokenizer);
  requireRows(table, new TokenizerPipeline(tokenizer, table).frames, numRows);
  if (takesChats) await readChatTemplate(tokenizerConfig);
  return { tokenizer, tokenizerConfig };
}

/**
 * The chat template is in `tokenizer_config.json` or, as huggingface/transformers writes it today, in a file of its own,
 * which goes first. A template of `null` says that there is none: no other file is opened.
 */
async function readTokenizerConfig(files: CheckpointFiles): Promise<Readonly<Record<string, unknown>>> {
  const config = (await readJson(files, 'tokenizer_config.json')) ?? {};
  if (!isRecord(config)) throw ModelFileCorruptError.of('tokenizer_config.json', 'it is not a JSON object');
  if (config['chat_template'] === null) return config;
  const template = await readText(files, 'chat_template.jinja');
  if (template !== undefined) return { ...config, chat_template: template };
  if (config['chat_template'] !== undefined) return config;
  const legacy = await readJson(files, 'chat_template.json');
  return isRecord(legacy) ? { ...config, chat_template: legacy['chat_template'] } : config;
}

async function readText(files: CheckpointFiles, name: string): Promise<string | undefined> {
  const file = await files.open(name);
  return file && new TextDecoder().decode(await file.read(0, file.size));
}

async function makeTokenizer(
  files: CheckpointFiles,
  config: Readonly<Record<string, unknown>>,
): Promise<unknown> {
  const [vocab, merges] = await Promise.all([readJson(files, 'vocab.json'), readText(files, 'merges.txt')]);
  if (vocab === undefined || merges === undefined) {
    const wordPieces = await readText(files, 'vocab.txt');
    if (wordPieces !== undefined) return wordPieceTokenizer(wordPieces, config);
    const detail = 'there are neither this file, nor vocab.json and merges.txt, nor vocab.txt';
    throw missingFile(files, 'tokenizer.json', detail);
  }
  if (!isRecord(vocab)) throw ModelFileCorruptError.of('vocab.json', 'it is not a JSON object');
  const byteLevel = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true };
  const id = vocab[END_OF_TEXT];
  return {
    version: '1.0',
    added_tokens: typeof id === 'number' ? [{ id, content: END_OF_TEXT, special: true }] : [],
    pre_tokenizer: byteLevel,
    post_processor: byteLevel,
    decoder: byteLevel,
    model: {
      type: 'BPE',
      vocab,
      merges: merges.split(/\r?\n/).filter((line) => line !== '' && !line.startsWith('#version')),
    },
  };
}
