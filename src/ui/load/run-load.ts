import type { Serve } from '../../worker/client/client.ts';
import {
  TEXT_GENERATOR,
  type FinishReason,
  type GenerationResult,
} from '../../worker/protocol/generation.ts';
import { toWireError } from '../state/to-wire-error.ts';
import type { Trace, TraceRequest } from './scenario.ts';

export type Outcome = { readonly sentMs: number } & (
  | {
      readonly status: 'finished';
      readonly finishReason: FinishReason;
      readonly numPromptTokens: number;
      /** Without the end token, as the metrics count them. */
      readonly numOutputTokens: number;
      readonly timings: GenerationResult['timings'];
    }
  /** Back pressure: the queue was full. */
  | { readonly status: 'rejected' }
  | { readonly status: 'failed'; readonly code: string }
  /** The run was stopped. */
  | { readonly status: 'cancelled' }
);

export interface LoadRun {
  readonly outcomes: readonly Outcome[];
  /** From the start to the end of the last request. */
  readonly durationMs: number;
}

export interface LoadProgress {
  readonly elapsedMs: number;
  readonly numSent: number;
  readonly numFinished: number;
  readonly numRejected: number;
  readonly numOutputTokens: number;
  /** Undefined in a closed loop. */
  readonly numToSend: number | undefined;
}

interface LoadOptions {
  /** Stops sending and cancels the running requests. */
  readonly signal: AbortSignal;
  readonly onProgress: (progress: LoadProgress) => void;
}

/** Sends a trace to the text generator and waits for all requests. A failed request rejects nothing; its outcome says so. */
export function runLoad(serve: Serve, trace: Trace, options: LoadOptions): Promise<LoadRun> {
  return new Run(serve, trace, options).toEnd();
}

class Run {
  readonly #serve: Serve;
  readonly #trace: Trace;
  readonly #options: LoadOptions;
  readonly #startedAtMs = performance.now();
  readonly #outcomes: Promise<Outcome>[] = [];
  #numFinished = 0;
  #numRejected = 0;
  #numOutputTokens = 0;

  constructor(serve: Serve, trace: Trace, options: LoadOptions) {
    this.#serve = serve;
    this.#trace = trace;
    this.#options = options;
  }

  async toEnd(): Promise<LoadRun> {
    const { requests, closedLoop } = this.#trace;
    if (closedLoop) await this.#runClosedLoop(closedLoop.numUsers, closedLoop.durationSeconds * 1000);
    else for (const request of requests) if (await this.#isDue(request.atMs)) void this.#send(request);
    const outcomes = await Promise.all(this.#outcomes);
    return { outcomes, durationMs: this.#elapsedMs };
  }

  get #elapsedMs(): number {
    return performance.now() - this.#startedAtMs;
  }

  async #runClosedLoop(numUsers: number, durationMs: number): Promise<void> {
    const { requests } = this.#trace;
    let next = 0;
    const use = async (): Promise<void> => {
      while (this.#elapsedMs < durationMs && !this.#options.signal.aborted) {
        const request = requests[next % requests.length];
        next += 1;
        if (!request) return;
        const { status } = await this.#send(request);
        // A full queue refuses at once: asking again without a pause would slow down the waiting requests.
        if (status !== 'finished') await pause(50, this.#options.signal);
      }
    };
    await Promise.all(Array.from({ length: numUsers }, use));
  }

  /** Waits for the time of a request. False: the run was stopped. */
  async #isDue(atMs: number): Promise<boolean> {
    const { signal } = this.#options;
    const delayMs = atMs - this.#elapsedMs;
    if (delayMs > 0) await pause(delayMs, signal);
    return !signal.aborted;
  }

  #send({ prompt, maxNewTokens, seed }: TraceRequest): Promise<Outcome> {
    const outcome = this.#outcomeOf(prompt, { maxNewTokens, seed }, this.#elapsedMs);
    this.#outcomes.push(outcome);
    this.#reportProgress();
    return outcome;
  }

  async #outcomeOf(
    prompt: string,
    options: { maxNewTokens: number; seed: number },
    sentMs: number,
  ): Promise<Outcome> {
    try {
      const { signal } = this.#options;
      const result = await this.#serve
        .getHandle(TEXT_GENERATOR)
        .remote(prompt, { ...options, signal })
        .result();
      const { tokenIds, finishReason, usage, timings } = result;
      const { numPromptTokens } = usage;
      this.#numFinished += 1;
      this.#numOutputTokens += tokenIds.length;
      this.#reportProgress();
      const numOutputTokens = tokenIds.length;
      return { status: 'finished', sentMs, finishReason, numPromptTokens, numOutputTokens, timings };
    } catch (caught) {
      const { code } = toWireError(caught);
      if (code === 'REQUEST_CANCELLED') return { status: 'cancelled', sentMs };
      if (code !== 'BACK_PRESSURE') return { status: 'failed', sentMs, code };
      this.#numRejected += 1;
      this.#reportProgress();
      return { status: 'rejected', sentMs };
    }
  }

  #reportProgress(): void {
    this.#options.onProgress({
      elapsedMs: this.#elapsedMs,
      numSent: this.#outcomes.length,
      numFinished: this.#numFinished,
      numRejected: this.#numRejected,
      numOutputTokens: this.#numOutputTokens,
      numToSend: this.#trace.closedLoop ? undefined : this.#trace.requests.length,
    });
  }
}

/** Resolves after the delay, or when the run is stopped. */
function pause(delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) {
      resolve();
      return;
    }
    const timer = setTimeout(end, delayMs);
    function end(): void {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    }
    signal.addEventListener('abort', end);
  });
}
