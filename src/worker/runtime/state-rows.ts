import { fixedBytesOf, type LayerState } from '../models/program/layer-state.ts';
import type { RowCopy } from './model-backend.ts';

/**
 * The state of some rows on a device: the slots, or the staging rows. All that happens to a row goes through it, but for one thing: keys and
 * values behind its last token are not read, so a row that goes on from an earlier token needs no call.
 */
export interface StateRows {
  /** Keeps what fits. State of a fixed size has room in any capacity. */
  resize(numRows: number, capacity: number): void;
  /** Copies all that rows keep, to rows of the same capacity, which may be others of these. With a capacity of 0 there is fixed state only. */
  copyTo(target: this, copies: readonly RowCopy[]): void;
  /** Sets state of a fixed size to 0, for rows that start anew. */
  clear(rows: readonly number[]): void;
}

/** How a row keeps something: in strips, one behind the other. Those of keys and of values are their heads. */
export interface Strips {
  readonly numStrips: number;
  /** Bytes of a strip for each token of the capacity. */
  readonly perToken: number;
  /** Bytes of a strip whatever the capacity. */
  readonly fixed: number;
}

/** The keys and the values of a layer, or its state of a fixed size; none where it reads those of another layer. */
export function stripsOf(state: LayerState, bytesPerValue: number): readonly Strips[] {
  switch (state.kind) {
    case 'tokens': {
      const strips = { numStrips: state.numKvHeads, perToken: state.headSize * bytesPerValue, fixed: 0 };
      return [strips, strips];
    }
    case 'row':
      return [{ numStrips: 1, perToken: 0, fixed: fixedBytesOf(state, bytesPerValue) }];
    case 'shared':
      return [];
  }
}

export function stripBytes({ perToken, fixed }: Strips, capacity: number): number {
  return fixed + perToken * capacity;
}
