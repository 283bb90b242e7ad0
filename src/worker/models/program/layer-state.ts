import { countElements } from './model-config.ts';

/** A row's state between runs for one layer. */
export type LayerState = TokenState | FixedState | SharedState;

/** Keys and values of each token. Those behind a row's last token are not read, and the next tokens overwrite them. */
export interface TokenState {
  readonly kind: 'tokens';
  readonly numKvHeads: number;
  readonly headSize: number;
  /** Latest tokens that are read; all where left out. */
  readonly window?: number | undefined;
}

/**
 * A fixed number of values, 0 before the first token. Each token changes them all, so a row goes on only from its last token: no earlier
 * state is left.
 */
export interface FixedState {
  readonly kind: 'row';
  readonly shape: readonly number[];
  /** Sums over all tokens, which are in float32 on any device. Else they are the values of the latest tokens: [tokens, width]. */
  readonly isSum?: true;
}

/** How many of the latest tokens a layer keeps values of, if any. */
export function keptTokensIn(state: LayerState): readonly number[] {
  return state.kind === 'row' && !state.isSum ? state.shape.slice(0, 1) : [];
}

/** No state: the layer reads the keys and values of an earlier one. */
interface SharedState {
  readonly kind: 'shared';
  readonly layer: number;
}

/** Memory of a row, in bytes. */
export interface RowBytes {
  readonly bytesPerRow: number;
  readonly bytesPerToken: number;
  /** The part of `bytesPerToken` in the largest buffer: the keys of one layer, or its values. */
  readonly largestPerToken: number;
  /** The part of `bytesPerRow` in the largest buffer: the fixed state of one layer. */
  readonly largestPerRow: number;
}

/** Rows of any length take at least this many times the bytes of their largest buffer. */
export function numBuffersOf({
  bytesPerRow,
  bytesPerToken,
  largestPerToken,
  largestPerRow,
}: RowBytes): number {
  const ofRow = largestPerRow > 0 ? bytesPerRow / largestPerRow : Infinity;
  return Math.min(ofRow, largestPerToken > 0 ? bytesPerToken / largestPerToken : Infinity);
}

/** @param bytesPerValue Of what is kept, but for sums. */
export function fixedBytesOf({ shape, isSum }: FixedState, bytesPerValue: number): number {
  return countElements(shape) * (isSum ? Float32Array.BYTES_PER_ELEMENT : bytesPerValue);
}

/** @param bytesPerValue As for `fixedBytesOf`. */
export function rowBytesOf(states: readonly LayerState[], bytesPerValue: number): RowBytes {
  const kv = states.map((state) =>
    state.kind === 'tokens' ? state.numKvHeads * state.headSize * bytesPerValue : 0,
  );
  const fixed = states.map((state) => (state.kind === 'row' ? fixedBytesOf(state, bytesPerValue) : 0));
  return {
    bytesPerRow: sum(fixed),
    bytesPerToken: 2 * sum(kv),
    largestPerToken: Math.max(0, ...kv),
    largestPerRow: Math.max(0, ...fixed),
  };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
