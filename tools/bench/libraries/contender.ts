import type { Dtype } from '../../../src/protocol/models.ts';
import type { BackendName } from '../bench-case.ts';

/** A library with a model, in a tab of its own. */
export interface ContenderSpec {
  readonly label: string;
  readonly library: LibraryName;
  /** File or folder below `models/bench/` of the libraries' page; empty for the model that Tabserve's page has. */
  readonly model: string;
  /** By the library's own name; llama.cpp's are in the file. */
  readonly dtype: Dtype | 'q4f16';
  /** Whether the page that people open runs it and draws, not its client alone. */
  readonly isInPage?: true;
  /** Requests that one call of a pipeline takes: one if left out. */
  readonly listSize?: number;
}

export type LibraryName = 'tabserve' | 'pipeline' | 'wllama';

export interface PeerRequest {
  readonly prompt: string;
  /** Tokens to generate, greedily. */
  readonly maxNewTokens: number;
}

/** A request, and when it is due after the first one. */
export interface TimedRequest extends PeerRequest {
  readonly arrivalMs: number;
}

/** A continuation without its prompt, as token ids or, where the library reports none, as text. */
export type Continuation =
  | { readonly tokenIds: readonly number[] }
  | { readonly text: string; readonly numTokens: number };

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

/** All requests of a case, once. Times are from when a request was due, so that a blocked page counts. */
export interface Burst {
  readonly wallMs: number;
  readonly answers: readonly TimedAnswer[];
}

export interface TimedAnswer {
  readonly continuation: Continuation;
  /** When each token or piece of text came. */
  readonly tokenMs: readonly number[];
  readonly latencyMs: number;
}

export interface BenchLibrary {
  /**
   * @param numSlots The most requests at once.
   * @returns Where the library computes.
   */
  load(spec: ContenderSpec, backend: BackendName, numSlots: number): Promise<string>;
  /** @param leastMs Bursts repeat for at least this long, so that the page draws meanwhile, as it does for users. */
  run(requests: readonly TimedRequest[], leastMs: number): Promise<readonly Burst[]>;
}

declare global {
  interface Window {
    benchLibrary: BenchLibrary;
  }
}

export function numTokensOf(continuation: Continuation): number {
  return 'tokenIds' in continuation ? continuation.tokenIds.length : continuation.numTokens;
}

export function describeCpu(numThreads: number): string {
  return `CPU, ${numThreads} ${numThreads === 1 ? 'thread' : 'threads'}`;
}
