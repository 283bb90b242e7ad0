import type { ForwardInput } from '../model-backend.ts';

type Rows = Pick<ForwardInput, 'numRows' | 'tokensPerRow' | 'positions' | 'lastIndices'>;

/**
 * Which tokens a convolution keeps of each row, as `GRAPH_IO.keptTokens` numbers them. Padding isn't kept. Rows with padding start anew, so
 * zeros are before their tokens.
 */
export function keptTokensOf(
  { numRows, tokensPerRow, positions, lastIndices }: Rows,
  numKept: number,
): Int32Array {
  const zeros = numRows * (numKept + tokensPerRow);
  return Int32Array.from({ length: numRows * numKept }, (_, at) => {
    const row = Math.floor(at / numKept);
    const first = row * tokensPerRow;
    const numTokens = (lastIndices[row] ?? 0) + 1 - (positions[first] ?? 0);
    if (numTokens === tokensPerRow) return at;
    const token = numTokens - numKept + (at % numKept);
    return token < 0 ? zeros : numRows * numKept + first + token;
  });
}
