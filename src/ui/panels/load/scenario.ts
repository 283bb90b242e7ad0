import * as v from 'valibot';

/** When requests arrive. Rates are requests per second. */
export type Arrivals =
  /** Each user sends its next request when the last one ends. */
  | { readonly type: 'closed-loop'; readonly numUsers: number }
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

/** The most requests of a trace, so that a browser can keep and show them. */
export const MAX_REQUESTS = 5000;

const number = v.pipe(v.number(), v.finite(), v.minValue(0));
const positiveInteger = v.pipe(v.number(), v.integer(), v.minValue(1));

const requestSchema = v.object({
  /** From the start of the run; 0 in a closed loop, where the end of a user's last request says when. */
  atMs: number,
  prompt: v.pipe(v.string(), v.minLength(1), v.maxLength(100_000)),
  maxNewTokens: positiveInteger,
  seed: v.pipe(number, v.integer(), v.maxValue(2 ** 32 - 1)),
});

export const traceSchema = v.object({
  requests: v.pipe(v.array(requestSchema), v.minLength(1), v.maxLength(MAX_REQUESTS), v.readonly()),
  /** In a closed loop: users who take the next request, from the first again after the last, until time is up. */
  closedLoop: v.exactOptional(v.object({ numUsers: positiveInteger, durationSeconds: number })),
});

export type TraceRequest = Readonly<v.InferOutput<typeof requestSchema>>;
export type Trace = Readonly<v.InferOutput<typeof traceSchema>>;
