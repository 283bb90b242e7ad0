import { isRecord } from '../../../platform/is-record.ts';
import type { ModelFileCorruptError } from '../../../protocol/errors/model.ts';
import { readAddedTokens, type AddedToken } from './added-tokens.ts';
import { normalizeBy, readNormalizers } from './normalizers.ts';
import type { Frames } from './special-tokens.ts';
import type { TokenIds } from './subword-model.ts';
import { corruptTokenizer, fieldsOf } from './tokenizer-parts.ts';

/** All tokens of a tokenizer. */
export interface TokenTable {
  readonly vocab: TokenIds;
  readonly addedTokens: readonly AddedToken[];
}

/** @throws ModelFileCorruptError, UnsupportedModelError. */
export function readTokenTable(tokenizerJson: unknown): TokenTable {
  const { model, normalizer, added_tokens } = fieldsOf(tokenizerJson);
  const vocab = readVocab(model['vocab']);
  const normalize = normalizeBy(readNormalizers(normalizer));
  return { vocab, addedTokens: readAddedTokens(added_tokens, vocab, normalize) };
}

/**
 * Refuses a tokenizer that gives ids for which the model has no embedding, whatever the text. Added tokens may lie beyond it,
 * as in many models that were tuned: texts that have one are refused.
 *
 * @throws ModelFileCorruptError
 */
export function requireRows({ vocab, addedTokens }: TokenTable, frames: Frames, numRows: number): void {
  const added = new Set(addedTokens.map(({ id }) => id));
  for (const [token, id] of vocab) if (id >= numRows && !added.has(id)) throw beyond(token, id, numRows);
  for (const part of frames.single.concat(frames.pair))
    if (typeof part !== 'string')
      for (const id of part) if (id >= numRows) throw beyond('around each text', id, numRows);
}

function beyond(token: string, id: number, numRows: number): ModelFileCorruptError {
  return corruptTokenizer(`its token ${token} has the id ${id}, and the embedding has ${numRows} rows`);
}

function readVocab(vocab: unknown): TokenIds {
  if (!isRecord(vocab)) throw corruptTokenizer('its vocabulary does not map tokens to ids');
  const ids = new Map<string, number>();
  for (const token of Object.keys(vocab)) {
    const id = vocab[token];
    if (typeof id !== 'number' || !Number.isSafeInteger(id) || id < 0)
      throw corruptTokenizer('its vocabulary does not map tokens to ids');
    ids.set(token, id);
  }
  return ids;
}
