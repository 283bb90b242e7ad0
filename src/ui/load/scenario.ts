/** When requests arrive. Rates are requests per second. */
export type Arrivals =
  /** Each user sends its next request when the last one ends. */
  | { readonly type: 'closed-loop'; readonly numUsers: number }
  /** Independent of each other. */
  | { readonly type: 'poisson'; readonly ratePerSecond: number }
  | { readonly type: 'burst'; readonly burstSize: number; readonly everySeconds: number }
  /** Poisson arrivals whose rate grows linearly. */
  | { readonly type: 'ramp'; readonly fromPerSecond: number; readonly toPerSecond: number };

/** Integers from `min` to `max`. */
export interface Lengths {
  /** `long-tail`: exponential with a mean of a quarter of the range, cut at `max`. */
  readonly type: 'fixed' | 'uniform' | 'long-tail';
  /** Unused for `fixed`, where all are `max`. */
  readonly min: number;
  readonly max: number;
}

/** A load on the text generator. The same scenario makes the same trace on every machine. */
export interface Scenario {
  readonly arrivals: Arrivals;
  /** Words, because the page has no tokenizer. One word is about one token of the embedded model. */
  readonly promptWords: Lengths;
  readonly outputTokens: Lengths;
  readonly durationSeconds: number;
  /** Unsigned 32-bit integer. */
  readonly seed: number;
}

export interface TraceRequest {
  /** From the start of the run; 0 in a closed loop, where the end of a user's last request says when. */
  readonly atMs: number;
  readonly prompt: string;
  readonly maxNewTokens: number;
  readonly seed: number;
}

/** All requests of a run, so that they can be sent again. */
export interface Trace {
  readonly requests: readonly TraceRequest[];
  /** In a closed loop: users who take the requests in turn, from the first again after the last, until time is up. */
  readonly closedLoop?: { readonly numUsers: number; readonly durationSeconds: number };
}

/** The most requests of a trace, so that a browser can keep and show them. */
export const MAX_REQUESTS = 5000;
