/** When requests come. Rates are requests per second. */
export type Arrivals =
  /** So many users, each sending its next request when the last one is over. */
  | { readonly type: 'closed-loop'; readonly numUsers: number }
  /** Independent of each other, at this rate on average. */
  | { readonly type: 'poisson'; readonly ratePerSecond: number }
  /** So many at once, again and again. */
  | { readonly type: 'burst'; readonly burstSize: number; readonly everySeconds: number }
  /** Poisson arrivals whose rate grows evenly from the one to the other. */
  | { readonly type: 'ramp'; readonly fromPerSecond: number; readonly toPerSecond: number };

/** Integers from `min` to `max`. */
export interface Lengths {
  /** `long-tail`: mostly short ones and a few long ones, exponential with a mean of a quarter of the range, cut at `max`. */
  readonly type: 'fixed' | 'uniform' | 'long-tail';
  /** Without a meaning for `fixed`, where all are `max`. */
  readonly min: number;
  readonly max: number;
}

/** What is asked of the text generator; the same scenario makes the same trace anywhere. */
export interface Scenario {
  readonly arrivals: Arrivals;
  /** The page has no tokenizer: a word of these prompts is about one token of the embedded model. */
  readonly promptWords: Lengths;
  readonly outputTokens: Lengths;
  readonly durationSeconds: number;
  /** Unsigned 32-bit integer. */
  readonly seed: number;
}

export interface TraceRequest {
  /** From the beginning of the run; 0 in a closed loop, where a user's last request says when. */
  readonly atMs: number;
  readonly prompt: string;
  readonly maxNewTokens: number;
  readonly seed: number;
}

/** All that a run sends, so that it can be sent again. */
export interface Trace {
  readonly requests: readonly TraceRequest[];
  /** In a closed loop: users who take the requests in turn, from the first again after the last, until time is up. */
  readonly closedLoop?: { readonly numUsers: number; readonly durationSeconds: number };
}

/** Of one trace at most: what a browser can be asked to remember and to show. */
export const MAX_REQUESTS = 5000;
