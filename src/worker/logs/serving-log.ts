import { isRecord } from '../../platform/is-record.ts';
import { EMBEDDER, RERANKER } from '../../protocol/embedding.ts';
import type { Caller, RequestActivity, RequestUpdate } from '../../protocol/requests.ts';
import type { StepRecord, TabserveStats } from '../../protocol/stats.ts';
import { inputOf } from '../../protocol/wire-errors.ts';
import type { LoggedRequest, LogSlice, WorkerLog } from '../../protocol/worker-log.ts';

/** Requests to keep. */
const MAX_REQUESTS = 1000;

const SLICE_MS = 10_000;

/** An hour. */
const MAX_SLICES = 360;

/** The start of the log, the number of the last request and that of the last slice. */
const CURSOR = /^\d+\/\d+\/\d+$/;

type Sums = { -readonly [Field in Exclude<keyof LogSlice, `${string}Ms` | 'meanWaiting'>]: number } & {
  numWaiting: number;
};

/** The part of the text generator's figures that is kept. */
export interface KeptFigures extends Pick<TabserveStats, 'numWaiting' | 'kvCache'> {
  readonly steps: readonly Pick<StepRecord, 'queueLength'>[];
  /** Since the worker's start. */
  readonly totals: Pick<TabserveStats['totals'], 'outputTokens' | 'prefixCacheQueries' | 'prefixCacheHits'>;
}

/** What the worker has of a request beside its last update. */
interface EndedRequest {
  readonly activity: RequestActivity;
  readonly caller: Caller | undefined;
  readonly durationMs: number;
}

/** The last requests that have ended, and the text generator's last hour. */
export class ServingLog {
  readonly #nowMs: () => number;
  readonly #startedAtMs: number;
  #requests: LoggedRequest[] = [];
  #numRequests = 0;
  /** By the number of 10 s since 1970, oldest first. */
  readonly #slices = new Map<number, Sums>();
  #totals: KeptFigures['totals'] = { outputTokens: 0, prefixCacheQueries: 0, prefixCacheHits: 0 };

  /** @param nowMs ms since 1970. */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
    this.#startedAtMs = nowMs();
  }

  /** @param update The request's last one. */
  recordEnd(update: RequestUpdate, { activity, caller, durationMs }: EndedRequest): void {
    const { tab, deployment, numOutputTokens } = activity;
    this.#numRequests += 1;
    this.#requests.push({
      number: this.#numRequests,
      endedAtMs: this.#nowMs(),
      ...(tab !== undefined && { tab }),
      ...(caller && { caller }),
      deployment,
      durationMs,
      ...(numOutputTokens > 0 && { numOutputTokens }),
      ...outcomeOf(update, deployment),
    });
    if (this.#requests.length > MAX_REQUESTS) this.#requests.shift();
  }

  /** Takes every message of the text generator's figures. */
  recordStats({ steps, totals, numWaiting, kvCache }: KeptFigures): void {
    const before = this.#totals;
    this.#totals = totals;
    const numNew = totals.outputTokens - before.outputTokens;
    if (steps.length === 0 && numNew === 0 && numWaiting === 0) return;
    const slice = this.#currentSlice();
    slice.numOutputTokens += numNew;
    slice.numPrefixQueries += totals.prefixCacheQueries - before.prefixCacheQueries;
    slice.numPrefixHits += totals.prefixCacheHits - before.prefixCacheHits;
    slice.numSteps += steps.length;
    slice.numWaiting += steps.reduce((sum, { queueLength }) => sum + queueLength, 0);
    slice.maxWaiting = Math.max(slice.maxWaiting, numWaiting, ...steps.map((step) => step.queueLength));
    const { usedBytes, reservedBytes } = kvCache;
    if (reservedBytes > 0) slice.maxKvShare = Math.max(slice.maxKvShare, usedBytes / reservedBytes);
  }

  /** @param cursor Of an earlier answer; any other is ignored. */
  read(cursor: string): WorkerLog {
    const nowMs = this.#nowMs();
    const slices = [...this.#slices].filter(([number]) => number > numberAt(nowMs) - MAX_SLICES);
    const newest = [...this.#slices.keys()].at(-1) ?? 0;
    const [log, request = 0, slice = 0] = CURSOR.test(cursor) ? cursor.split('/').map(Number) : [];
    const isWhole = log !== this.#startedAtMs || request > this.#numRequests || slice > newest;
    const [lastRequest, lastSlice] = isWhole ? [0, 0] : [request, slice];
    return {
      startedAtMs: this.#startedAtMs,
      cursor: [this.#startedAtMs, this.#numRequests, newest].join('/'),
      isWhole,
      requests: this.#requests.filter(({ number }) => number > lastRequest),
      slices: slices
        .filter(([number]) => number >= lastSlice)
        .map(([number, sums]) => sliceOf(number, sums, nowMs)),
    };
  }

  #currentSlice(): Sums {
    const number = numberAt(this.#nowMs());
    const known = this.#slices.get(number);
    if (known) return known;
    const sums = {
      numOutputTokens: 0,
      numSteps: 0,
      numWaiting: 0,
      maxWaiting: 0,
      maxKvShare: 0,
      numPrefixQueries: 0,
      numPrefixHits: 0,
    };
    this.#slices.set(number, sums);
    const [oldest] = this.#slices.keys();
    if (this.#slices.size > MAX_SLICES && oldest !== undefined) this.#slices.delete(oldest);
    return sums;
  }
}

function numberAt(ms: number): number {
  return Math.floor(ms / SLICE_MS);
}

function sliceOf(number: number, { numWaiting, ...sums }: Sums, nowMs: number): LogSlice {
  const startedAtMs = number * SLICE_MS;
  return {
    startedAtMs,
    durationMs: Math.min(SLICE_MS, Math.max(1, nowMs - startedAtMs)),
    ...sums,
    meanWaiting: sums.numSteps > 0 ? numWaiting / sums.numSteps : sums.maxWaiting,
  };
}

type Outcome = Omit<LoggedRequest, 'number' | 'endedAtMs' | 'tab' | 'caller' | 'deployment' | 'durationMs'>;

function outcomeOf(update: RequestUpdate, deployment: string): Outcome {
  if (update.type === 'failed') {
    const { error } = update;
    // An entry is one request, so its place among others says nothing.
    return { error: { code: error.code, message: inputOf(error).message } };
  }
  if (update.type === 'finished') {
    const { usage, timings, finishReason } = update.result;
    return { ...usage, queueWaitMs: timings.queueWaitMs, finishReason };
  }
  const isEncoder = deployment === EMBEDDER || deployment === RERANKER;
  return isEncoder && update.type === 'answered' ? { numPromptTokens: tokensRead(update.result) } : {};
}

/** Of an encoder's answer, which is a list for a list of texts. */
function tokensRead(answer: unknown): number {
  const parts: readonly unknown[] = Array.isArray(answer) ? answer : [answer];
  return parts.reduce<number>((sum, part) => {
    const numTokens = isRecord(part) ? part['numTokens'] : undefined;
    return typeof numTokens === 'number' ? sum + numTokens : sum;
  }, 0);
}
