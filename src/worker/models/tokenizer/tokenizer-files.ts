import { isRecord } from '../../platform/is-record.ts';
import { ModelFileCorruptError, ModelFileMissingError } from '../../protocol/errors/model.ts';
import type { Checkpoint } from '../checkpoint/checkpoint.ts';
import { readJson, type CheckpointFiles } from '../checkpoint/checkpoint-files.ts';

/** A special token, which `vocab.json` holds without saying that it is one. */
const END_OF_TEXT = '<|endoftext|>';

/** Reads the tokenizer. Old checkpoints have `vocab.json` and `merges.txt` instead of `tokenizer.json`. */
export async function readTokenizerFiles(
  files: CheckpointFiles,
): Promise<Pick<Checkpoint, 'tokenizer' | 'tokenizerConfig'>> {
  const [tokenizer, tokenizerConfig] = await Promise.all([
    readJson(files, 'tokenizer.json'),
    readJson(files, 'tokenizer_config.json'),
  ]);
  return {
    tokenizer: tokenizer ?? (await makeTokenizer(files)),
    tokenizerConfig: tokenizerConfig ?? {},
  };
}

async function makeTokenizer(files: CheckpointFiles): Promise<unknown> {
  const [vocab, merges] = await Promise.all([readJson(files, 'vocab.json'), files.open('merges.txt')]);
  if (vocab === undefined || !merges) {
    throw ModelFileMissingError.of(
      'tokenizer.json',
      'there are neither this file nor vocab.json and merges.txt',
    );
  }
  if (!isRecord(vocab)) throw ModelFileCorruptError.of('vocab.json', 'it is not a JSON object');
  const text = new TextDecoder().decode(await merges.read(0, merges.size));
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
      merges: text.split(/\r?\n/).filter((line) => line !== '' && !line.startsWith('#version')),
    },
  };
}
