import type { Pooling } from '../models/encoder/encoder-config.ts';

/** One text, or a pair of texts. */
export interface EncoderRow {
  readonly tokenIds: readonly number[];
  /** Tokens before the second text of a pair; all of them if there is one text. */
  readonly numFirst: number;
}

/** Added to the score of a hidden key, whose softmax share becomes 0. In the range of fp16. */
const HIDDEN = -6e4;

/** The values of a batch, row-major. Tokens are packed; attention alone pads rows, on the right. */
export interface EncoderInputs {
  /** [1, tokens], as `positions`, `types` and `tokenPlaces`. */
  readonly ids: Int32Array;
  readonly positions: Int32Array;
  readonly types: Int32Array;
  readonly tokenPlaces: Int32Array;
  /** [rows, tokens per row] */
  readonly rowTokens: Int32Array;
  /** [1, rows, tokens] */
  readonly shares: Float32Array;
  /** [rows, 1, queries, tokens per row] */
  readonly mask: Float32Array;
  /** Tokens per row if tokens attend to earlier ones alone, else 1: all attend to the same. */
  readonly numQueries: number;
  readonly tokensPerRow: number;
}

export function encoderInputs(
  rows: readonly EncoderRow[],
  { pooling, isCausal }: { readonly pooling: Pooling; readonly isCausal: boolean },
): EncoderInputs {
  const tokensPerRow = longestOf(rows);
  const numTokens = sumOf(rows);
  const size = rows.length * tokensPerRow;
  const numQueries = isCausal ? tokensPerRow : 1;
  const inputs: EncoderInputs = {
    ids: new Int32Array(numTokens),
    positions: new Int32Array(numTokens),
    types: new Int32Array(numTokens),
    tokenPlaces: new Int32Array(numTokens),
    rowTokens: new Int32Array(size),
    shares: new Float32Array(rows.length * numTokens),
    mask: new Float32Array(size * numQueries).fill(HIDDEN),
    numQueries,
    tokensPerRow,
  };
  let start = 0;
  for (const [row, { tokenIds, numFirst }] of rows.entries()) {
    const place = row * tokensPerRow;
    inputs.ids.set(tokenIds, start);
    inputs.types.fill(1, start + numFirst, start + tokenIds.length);
    inputs.shares.set(sharesOf(tokenIds.length, pooling), row * numTokens + start);
    for (const at of tokenIds.keys()) {
      inputs.positions[start + at] = at;
      inputs.tokenPlaces[start + at] = place + at;
      inputs.rowTokens[place + at] = start + at;
    }
    for (let query = 0; query < numQueries; query++) {
      const at = (row * numQueries + query) * tokensPerRow;
      const numKeys = isCausal ? Math.min(query + 1, tokenIds.length) : tokenIds.length;
      inputs.mask.fill(0, at, at + numKeys);
    }
    start += tokenIds.length;
  }
  return inputs;
}

/** Tokens of all rows. */
export function sumOf(rows: readonly EncoderRow[]): number {
  return rows.reduce((sum, { tokenIds }) => sum + tokenIds.length, 0);
}

export function longestOf(rows: readonly EncoderRow[]): number {
  return rows.reduce((longest, { tokenIds }) => Math.max(longest, tokenIds.length), 0);
}

/** Each token's share of the vector. */
export function sharesOf(numTokens: number, pooling: Pooling): Float32Array {
  const shares = new Float32Array(numTokens);
  switch (pooling) {
    case 'mean':
      return shares.fill(1 / numTokens);
    case 'sqrt-mean':
      return shares.fill(1 / Math.sqrt(numTokens));
    case 'weighted-mean':
      return shares.map((_, at) => (2 * (at + 1)) / (numTokens * (numTokens + 1)));
    case 'cls':
      shares[0] = 1;
      return shares;
    case 'last':
      shares[numTokens - 1] = 1;
      return shares;
  }
}
