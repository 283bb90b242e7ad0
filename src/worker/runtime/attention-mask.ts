import { windowOfMask } from '../models/graph/graph-io.ts';
import type { ForwardInput } from './model-backend.ts';

/** Hides a key: behind it, no share of a softmax is left. */
const HIDDEN = -3e38;

/**
 * Which keys a pass's tokens attend to, as numbers that are added to their scores: 0, or one that leaves no share.
 *
 * @param capacity K/V entries of each row, of which those before its first position are valid.
 * @param window Latest tokens that a token attends to, itself included.
 * @returns [numRows, 1, tokensPerRow, capacity + tokensPerRow]: the keys in the cache, then those of the pass.
 */
export function attentionMask(
  { numRows, tokensPerRow, positions }: Pick<ForwardInput, 'numRows' | 'tokensPerRow' | 'positions'>,
  capacity: number,
  window: number,
): Float32Array {
  const numKeys = capacity + tokensPerRow;
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
        if (keyPosition >= first && keyPosition <= position) mask[at + capacity + key - firstToken] = 0;
      }
    }
  }
  return mask;
}

/** The windows of the masks among the graph's inputs, by their names. */
export function maskWindowsOf(inputNames: readonly string[]): ReadonlyMap<string, number> {
  return new Map(
    inputNames.flatMap((name) => {
      const window = windowOfMask(name);
      return window === undefined ? [] : [[name, window]];
    }),
  );
}
