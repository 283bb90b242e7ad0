import { countElements } from '../model-config.ts';

/** What a row keeps between runs for one layer. */
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
}

/** Nothing: the layer reads the keys and values of an earlier one. */
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
}

/** @param bytesPerValue Of what is kept. */
export function rowBytesOf(states: readonly LayerState[], bytesPerValue: number): RowBytes {
  const kv = states.map((state) =>
    state.kind === 'tokens' ? state.numKvHeads * state.headSize * bytesPerValue : 0,
  );
  const fixed = states.map((state) =>
    state.kind === 'row' ? countElements(state.shape) * bytesPerValue : 0,
  );
  return { bytesPerRow: sum(fixed), bytesPerToken: 2 * sum(kv), largestPerToken: Math.max(0, ...kv) };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
