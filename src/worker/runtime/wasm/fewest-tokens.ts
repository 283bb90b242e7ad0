import type { ForwardInput } from '../model-backend.ts';

/**
 * Pads a prefill of a single token to two. With one query, the CPU's products take another path, which adds in another order: the
 * token's sums would depend on how much of its prompt was cached. Scored tokens are in the first row, so their indices stay.
 *
 * @param contextLength Positions that the model has. A token at the last one stays alone.
 */
export function withFewestTokens(input: ForwardInput, contextLength: number): ForwardInput {
  const { target, numRows, tokensPerRow, ids, positions } = input;
  const start = positions[0] ?? 0;
  const isAlone = target === 'staging' && tokensPerRow === 1 && start + 1 < contextLength;
  if (!isAlone || ids === 'sampled') return input;
  return {
    ...input,
    tokensPerRow: 2,
    ids: Int32Array.from([...ids].flatMap((id) => [id, id])),
    positions: Int32Array.from({ length: 2 * numRows }, (_, token) => start + (token % 2)),
  };
}
