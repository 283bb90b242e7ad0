/** The contenders, with their labels in the tables. */
export const CONTENDERS = {
  tabserve: 'Tabserve, bare client',
  'tabserve-page': 'Tabserve, its page',
  'pipeline-one': 'transformers.js, one by one',
  'pipeline-list': 'transformers.js, lists of prompts',
  wllama: 'wllama, 8 slots',
} as const;

export type ContenderName = keyof typeof CONTENDERS;

/** Our contenders. The tables divide their tokens/s by everyone else's. */
export const OWN_CONTENDERS = ['tabserve', 'tabserve-page'] as const satisfies readonly ContenderName[];

export type OwnContenderName = (typeof OWN_CONTENDERS)[number];

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

export function contenderNames(): ContenderName[] {
  return Object.keys(CONTENDERS).filter((name): name is ContenderName => name in CONTENDERS);
}

export function describeCpu(numThreads: number): string {
  return `CPU, ${numThreads} ${numThreads === 1 ? 'thread' : 'threads'}`;
}
