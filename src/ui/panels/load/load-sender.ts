import type { RequestId } from '../../../client/index.ts';
import { pause } from '../../browser/pause.ts';
import type { Ending, LoadTarget } from './load-target.ts';
import type { Trace, TraceRequest } from './scenario.ts';

export type Outcome = { readonly sentMs: number } & Ending;

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
  /** Tokens that finished requests made, or that an embedder read. */
  readonly numTokens: number;
  /** Undefined in a closed loop. */
  readonly numToSend: number | undefined;
}

interface LoadOptions {
  /** Stops sending and cancels the running requests. */
  readonly signal: AbortSignal;
  /** Called right after each submission. */
  readonly onSubmitted: (requestId: RequestId) => void;
  readonly onProgress: (progress: LoadProgress) => void;
}

/** Sends a trace and waits for all requests. A failed request rejects nothing; its outcome says so. */
export class LoadSender {
  readonly #target: LoadTarget;
  readonly #trace: Trace;
  readonly #options: LoadOptions;
  readonly #startedAtMs = performance.now();
  readonly #outcomes: Promise<Outcome>[] = [];
  readonly #counts = { numFinished: 0, numRejected: 0, numTokens: 0 };
  /** The requests that the users of a closed loop have taken. */
  #numTaken = 0;

  constructor(target: LoadTarget, trace: Trace, options: LoadOptions) {
    this.#target = target;
    this.#trace = trace;
    this.#options = options;
  }

  async run(): Promise<LoadRun> {
    const { closedLoop } = this.#trace;
    if (closedLoop) {
      const users = Array.from({ length: closedLoop.numUsers }, () =>
        this.#sendAsUser(closedLoop.durationSeconds * 1000),
      );
      await Promise.all(users);
    } else {
      await this.#sendOnTime();
    }
    const outcomes = await Promise.all(this.#outcomes);
    const endsMs = outcomes.flatMap((outcome) =>
      outcome.status === 'finished' ? outcome.sentMs + outcome.timings.e2eMs : [],
    );
    return { outcomes, durationMs: endsMs.length > 0 ? Math.max(...endsMs) : this.#elapsedMs };
  }

  get #elapsedMs(): number {
    return performance.now() - this.#startedAtMs;
  }

  async #sendOnTime(): Promise<void> {
    const { signal } = this.#options;
    for (const request of this.#trace.requests) {
      await pause(request.atMs - this.#elapsedMs, signal);
      if (signal.aborted) break;
      void this.#send(request);
    }
  }

  /** One request after the other. The users of a closed loop share the list. */
  async #sendAsUser(durationMs: number): Promise<void> {
    const { requests } = this.#trace;
    const { signal } = this.#options;
    while (this.#elapsedMs < durationMs && !signal.aborted) {
      const request = requests[this.#numTaken % requests.length];
      this.#numTaken += 1;
      if (!request) return;
      const { status } = await this.#send(request);
      // A full queue refuses at once: asking again without a pause would slow down the waiting requests.
      if (status !== 'finished') await pause(50, signal);
    }
  }

  #send(request: TraceRequest): Promise<Outcome> {
    const outcome = this.#awaitEnd(request, this.#elapsedMs);
    this.#outcomes.push(outcome);
    this.#report();
    return outcome;
  }

  async #awaitEnd(request: TraceRequest, sentMs: number): Promise<Outcome> {
    const outcome = { sentMs, ...(await this.#target.send(request, this.#options)) };
    if (outcome.status === 'rejected') this.#counts.numRejected += 1;
    if (outcome.status === 'finished') {
      this.#counts.numFinished += 1;
      this.#counts.numTokens += outcome.numOutputTokens ?? outcome.numPromptTokens;
    }
    this.#report();
    return outcome;
  }

  #report(): void {
    const { requests, closedLoop } = this.#trace;
    const numToSend = closedLoop ? undefined : requests.length;
    const numSent = this.#outcomes.length;
    this.#options.onProgress({ elapsedMs: this.#elapsedMs, numSent, ...this.#counts, numToSend });
  }
}
