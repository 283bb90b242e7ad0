export type EncoderDtype = 'fp32' | 'q8';

export interface Way {
  readonly library: 'tabserve' | 'transformers';
  readonly label: string;
  /** Texts of one call. Calls follow each other. */
  readonly listSize: number;
  /** Calls don't wait for each other. */
  readonly isAtOnce?: true;
  /** The knob of Tabserve's embedder; its default if left out. */
  readonly sortWindow?: number;
}

/** Tabserve as it comes, which the others are compared with. */
export const OWN_WAY: Way = { library: 'tabserve', label: 'Tabserve, one list', listSize: Infinity };

export const WAYS: readonly Way[] = [
  OWN_WAY,
  { library: 'tabserve', label: 'Tabserve, one list, unsorted', listSize: Infinity, sortWindow: 1 },
  { library: 'tabserve', label: 'Tabserve, calls at once', listSize: 1, isAtOnce: true },
  { library: 'tabserve', label: 'Tabserve, one by one', listSize: 1 },
  { library: 'transformers', label: 'transformers.js, one by one', listSize: 1 },
  { library: 'transformers', label: 'transformers.js, lists of 32', listSize: 32 },
  { library: 'transformers', label: 'transformers.js, one list', listSize: Infinity },
];

export interface EncoderRun {
  readonly wallMs: number;
  readonly vectors: readonly (readonly number[])[];
  /** Of the padded size of all batches, 0 to 1. Only Tabserve tells it. */
  readonly paddingShare?: number;
  /** Of each text. Only Tabserve tells it. */
  readonly numTokens?: readonly number[];
}

export interface EncoderContender {
  /** Threads and precision, as the library reports them. */
  readonly runsOn: string;
  embed(texts: readonly string[], way: Way): Promise<EncoderRun>;
}

export interface BenchEncoder {
  load(library: Way['library'], dtype: EncoderDtype): Promise<string>;
  embed(texts: readonly string[], way: Way): Promise<EncoderRun>;
}

declare global {
  interface Window {
    benchEncoder: BenchEncoder;
  }
}

/** Cuts texts into the lists of the calls. */
export function listsOf<Item>(
  items: readonly Item[],
  { listSize }: Pick<Way, 'listSize'>,
): readonly Item[][] {
  const size = Math.min(listSize, items.length);
  return Array.from({ length: Math.ceil(items.length / size) }, (_, at) =>
    items.slice(at * size, (at + 1) * size),
  );
}
