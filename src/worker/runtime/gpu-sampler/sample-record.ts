import { logprobOf, noFiniteLogit, type TokenLogprobs } from '../../../batching/sampling/logprobs.ts';
import { MAX_LOGPROBS } from '../../../batching/options/sampling-options.ts';

/** The shader reports a row without a next token in the upper bits of the word that otherwise holds the token id. */
export const FAULT = {
  nan: 0x8000_0000,
  plusInfinity: 0xc000_0000,
  onlyMinusInfinity: 0xffff_ffff,
} as const;

/** The fields of a row's logprobs, as 32-bit words. The likeliest tokens are in no order. */
export const RECORD = {
  sampledLogit: 0,
  largestLogit: 1,
  totalLow: 2,
  totalHigh: 3,
  numTop: 4,
  topIds: 5,
  topLogits: 5 + MAX_LOGPROBS,
  length: 5 + 2 * MAX_LOGPROBS,
} as const;

/** The token id in a row's result word. Throws the sampler's `RangeError` for a fault. */
export function tokenIdOf(result: number): number {
  if (result < FAULT.nan) return result;
  if (result === FAULT.onlyMinusInfinity) throw noFiniteLogit();
  const isInfinite = result >= FAULT.plusInfinity;
  const id = result - (isInfinite ? FAULT.plusInfinity : FAULT.nan);
  throw new RangeError(
    `Expected the logit of token ${id} to be finite, got ${isInfinite ? 'Infinity' : 'NaN'}`,
  );
}

export function readRecord(record: Uint32Array, tokenId: number): TokenLogprobs {
  const words = new DataView(record.buffer, record.byteOffset, record.byteLength);
  const integerAt = (index: number): number => words.getUint32(4 * index, true);
  const floatAt = (index: number): number => words.getFloat32(4 * index, true);
  const scale = {
    largestLogit: floatAt(RECORD.largestLogit),
    totalWeight: integerAt(RECORD.totalHigh) * 2 ** 32 + integerAt(RECORD.totalLow),
  };
  const top = Array.from({ length: integerAt(RECORD.numTop) }, (_, index) => ({
    tokenId: integerAt(RECORD.topIds + index),
    logprob: logprobOf(floatAt(RECORD.topLogits + index), scale),
  }));
  return {
    tokenId,
    logprob: logprobOf(floatAt(RECORD.sampledLogit), scale),
    // The lower id goes first among equal logprobs.
    top: top.toSorted((a, b) => b.logprob - a.logprob || a.tokenId - b.tokenId),
  };
}
