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
 * A fixed number of float32 values, 0 before the first token. Each token changes them all, so a row goes on only from its last token:
 * no earlier state is left.
 */
interface FixedState {
  readonly kind: 'row';
  readonly length: number;
}

/** Nothing: the layer reads the keys and values of an earlier one. */
interface SharedState {
  readonly kind: 'shared';
  readonly layer: number;
}
