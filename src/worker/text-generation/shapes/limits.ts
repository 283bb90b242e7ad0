import { ResponseFormatUnsupportedError } from '../../../batching/base/errors.ts';

/** Parts inside each other: of schemas, patterns, grammars and tags. */
const MAX_DEPTH = 64;

/** Ways that a text may be read at once. */
export const MAX_WAYS = 5000;

/** The most repeats of one part of a pattern or a grammar. */
const MAX_COUNT = 10_000;
/** Counts inside each other, multiplied: a text may be read in as many ways. */
const MAX_NESTED = 1000;

/** @throws ResponseFormatUnsupportedError. */
export function checkDepth(depth: number, param: string): void {
  if (depth > MAX_DEPTH)
    throw ResponseFormatUnsupportedError.of(
      param,
      `has more than ${MAX_DEPTH} parts inside each other`,
      'flatten it',
    );
}

/**
 * The product of counts inside each other.
 *
 * @param inner That of what is repeated.
 * @throws ResponseFormatUnsupportedError.
 */
export function nestedCount(inner: number, min: number, max: number, param: string): number {
  const count = Math.max(1, Number.isFinite(max) ? max : min);
  const remedy = 'use a smaller count, * or +; in a JSON Schema, minLength and maxLength may be larger';
  if (min > max) throw ResponseFormatUnsupportedError.of(param, 'has a count from more to less', 'swap them');
  if (count > MAX_COUNT)
    throw ResponseFormatUnsupportedError.of(param, `has a count of more than ${MAX_COUNT}`, remedy);
  if (inner > 1 && inner * count > MAX_NESTED)
    throw ResponseFormatUnsupportedError.of(
      param,
      `has counts inside each other that repeat more than ${MAX_NESTED} times`,
      remedy,
    );
  return inner * count;
}
