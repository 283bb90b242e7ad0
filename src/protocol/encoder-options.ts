import { InvalidOptionError } from '../batching/base/errors.ts';
import { integerIn, isBoolean, isWholeText, type Validators } from '../batching/base/validate.ts';
import { MAX_TEXTS, type EmbeddingOptions, type RerankOptions } from './embedding.ts';

/** The checks of the embedder's options that don't depend on its model. */
export const EMBEDDING_CHECKS: Validators<EmbeddingOptions> = {
  dimensions: integerIn({ from: 1 }),
  normalize: isBoolean,
  prompt: isWholeText,
  truncate: isBoolean,
};

export const RERANK_CHECKS: Validators<RerankOptions> = { topN: integerIn({ from: 1 }), truncate: isBoolean };

/** Whether an input of the embedder is one text, or the IDs of its tokens. */
export function isSingleText(input: unknown): boolean {
  return typeof input === 'string' || (Array.isArray(input) && typeof input[0] === 'number');
}

/** @throws InvalidOptionError for anything but a list of 1 to `MAX_TEXTS` entries. */
export function requireList(option: string, value: unknown): readonly unknown[] {
  if (Array.isArray(value) && value.length > 0 && value.length <= MAX_TEXTS) return value;
  const got: unknown = Array.isArray(value) ? `${value.length} entries` : value;
  throw InvalidOptionError.of(option, `a list of 1 to ${MAX_TEXTS} entries`, got);
}
