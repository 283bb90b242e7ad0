import type { ForwardInput } from '../model-backend.ts';

/** Added to the score of a hidden key, whose softmax share becomes 0. Finite, so that the sum with a score stays finite. */
const HIDDEN = -3e38;

/** The scores that a token has besides those of the pass. */
interface OtherScores {
  /** Of cached keys of its row, before them. */
  readonly numPast: number;
  /** Of no keys, behind them. */
  readonly numPadding: number;
  /** Whether that of its own key comes last, and not with the others. */
  readonly isOwnLast: boolean;
}

/**
 * The mask that the graph adds to attention scores: 0 for each key that a token attends to, `HIDDEN` for all others.
 *
 * Cached keys before the row's first position are valid.
 *
 * @param window Number of latest tokens that a token attends to, itself included.
 * @returns [numRows, 1, tokensPerRow, numPast + tokensPerRow + numPadding], plus 1 if `isOwnLast`
 */
export function attentionMask(
  { numRows, tokensPerRow, positions }: Pick<ForwardInput, 'numRows' | 'tokensPerRow' | 'positions'>,
  { numPast, numPadding, isOwnLast }: OtherScores,
  window: number,
): Float32Array {
  const numKeys = numPast + tokensPerRow + numPadding + (isOwnLast ? 1 : 0);
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
      if (!isOwnLast) continue;
      mask[at + numPast + token - firstToken] = HIDDEN;
      mask[at + numKeys - 1] = 0;
    }
  }
  return mask;
}
