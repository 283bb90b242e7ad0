import type { ForwardInput } from '../model-backend.ts';

/** Added to the score of a hidden key, whose softmax share becomes 0. Finite, so that the sum with a score stays finite. */
const HIDDEN = -3e38;

/** How many scores a token has besides those of the pass: of cached keys of its row before them, and of no keys behind them. */
interface OtherScores {
  readonly numPast: number;
  readonly numPadding: number;
}

/**
 * The mask that the graph adds to attention scores: 0 for each key that a token attends to, `HIDDEN` for all others.
 *
 * Cached keys before the row's first position are valid.
 *
 * @param window Number of latest tokens that a token attends to, itself included.
 * @returns [numRows, 1, tokensPerRow, numPast + tokensPerRow + numPadding]
 */
export function attentionMask(
  { numRows, tokensPerRow, positions }: Pick<ForwardInput, 'numRows' | 'tokensPerRow' | 'positions'>,
  { numPast, numPadding }: OtherScores,
  window: number,
): Float32Array {
  const numKeys = numPast + tokensPerRow + numPadding;
  const mask = new Float32Array(numRows * tokensPerRow * numKeys).fill(HIDDEN);
  for (let row = 0; row < numRows; row++) {
    const firstToken = row * tokensPerRow;
    const numCached = positions[firstToken] ?? 0;
    for (let token = firstToken; token < firstToken + tokensPerRow; token++) {
      const position = positions[token] ?? 0;
      const first = Math.max(0, position - window + 1);
      const at = token * numKeys;
      mask.fill(0, at + Math.min(first, numCached), at + numCached);
      for (let key = firstToken; key < firstToken + tokensPerRow; key++) {
        const keyPosition = positions[key] ?? 0;
        if (keyPosition >= first && keyPosition <= position) mask[at + numPast + key - firstToken] = 0;
      }
    }
  }
  return mask;
}
