import type { BenchModel } from '../command-line.ts';

/** The contenders, with their labels in the tables. */
export const CONTENDERS = {
  tabserve: 'Tabserve, bare client',
  'tabserve-page': 'Tabserve, its page',
  'pipeline-one': 'transformers.js, one by one',
  'pipeline-list': 'transformers.js, lists of prompts',
  wllama: 'wllama, 8 slots',
  'tabserve-q8': 'Tabserve, bare client, q8',
  'pipeline-q8': 'transformers.js, lists of prompts, q8',
  'wllama-Q4_1': 'wllama, 8 slots, Q4_1',
  'wllama-Q8_0': 'wllama, 8 slots, Q8_0',
  'wllama-F16': 'wllama, 8 slots, F16',
} as const;

export type ContenderName = keyof typeof CONTENDERS;

/** Our contenders. The tables divide their tokens/s by everyone else's. */
export const OWN_CONTENDERS = ['tabserve', 'tabserve-page'] as const satisfies readonly ContenderName[];

export type OwnContenderName = (typeof OWN_CONTENDERS)[number];

/** Who runs each model, in the order of the tables. The real model's libraries run it in each precision that suits them. */
export const ENTRANTS: Readonly<Record<BenchModel, readonly ContenderName[]>> = {
  storyteller: ['tabserve', 'tabserve-page', 'pipeline-one', 'pipeline-list', 'wllama'],
  smollm2: [
    'tabserve',
    'tabserve-q8',
    'pipeline-one',
    'pipeline-list',
    'pipeline-q8',
    'wllama-Q4_1',
    'wllama-Q8_0',
    'wllama-F16',
  ],
};

export type BackendName = 'webgpu' | 'wasm';

/** How many requests a case has, and slots wllama is given: it never answers a request beyond its slots. */
export const MAX_CONCURRENT = 8;

export interface PeerRequest {
  readonly prompt: string;
  /** Tokens to generate, greedily; no text of the reference ends before. */
  readonly maxNewTokens: number;
}

/** A continuation without its prompt, as token ids or, where the library reports none, as text. */
export type Continuation =
  | { readonly tokenIds: readonly number[] }
  | { readonly text: string; readonly numTokens: number };

/** A library with its model loaded, in the page. */
export interface Contender {
  /** Adapter or threads, and precision, as far as the library reports them. */
  readonly runsOn: string;
  /**
   * May be called again before the first call ends. The contender decides how the calls share the model.
   *
   * @param onToken Called as tokens come in, at least for the first one.
   */
  generate(request: PeerRequest, onToken: () => void): Promise<Continuation>;
}

export function describeCpu(numThreads: number): string {
  return `CPU, ${numThreads} ${numThreads === 1 ? 'thread' : 'threads'}`;
}
