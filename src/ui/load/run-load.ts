import {
  TEXT_GENERATOR,
  type FinishReason,
  type GenerationResult,
  type RequestId,
  type TabserveClient,
} from '../../client/index.ts';
import { toWireError } from '../parts/to-wire-error.ts';
import type { Trace, TraceRequest } from './scenario.ts';

export type Outcome = { readonly sentMs: number } & Ending;

type Ending =
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
  | { readonly status: 'cancelled' };

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
  /** Called right after each submission. */
  readonly onSubmitted: (requestId: RequestId) => void;
  readonly onProgress: (progress: LoadProgress) => void;
}

/** Sends a trace to the text generator and waits for all requests. A failed request rejects nothing; its outcome says so. */
export async function runLoad(
  serve: TabserveClient,
  { requests, closedLoop }: Trace,
  options: LoadOptions,
): Promise<LoadRun> {
  const { signal, onProgress } = options;
  const startedAtMs = performance.now();
  const elapsedMs = (): number => performance.now() - startedAtMs;
  const outcomes: Promise<Outcome>[] = [];
  const counts = { numFinished: 0, numRejected: 0, numOutputTokens: 0 };
  const numToSend = closedLoop ? undefined : requests.length;

  const report = (): void =>
    onProgress({ elapsedMs: elapsedMs(), numSent: outcomes.length, ...counts, numToSend });

  const awaitEnd = async (request: TraceRequest, sentMs: number): Promise<Outcome> => {
    const outcome = { sentMs, ...(await generate(serve, request, options)) };
    if (outcome.status === 'rejected') counts.numRejected += 1;
    if (outcome.status === 'finished') {
      counts.numFinished += 1;
      counts.numOutputTokens += outcome.numOutputTokens;
    }
    report();
    return outcome;
  };

  const send = (request: TraceRequest): Promise<Outcome> => {
    const outcome = awaitEnd(request, elapsedMs());
    outcomes.push(outcome);
    report();
    return outcome;
  };

  let next = 0;
  const sendInTurn = async (durationMs: number): Promise<void> => {
    while (elapsedMs() < durationMs && !signal.aborted) {
      const request = requests[next % requests.length];
      next += 1;
      if (!request) return;
      const { status } = await send(request);
      // A full queue refuses at once: asking again without a pause would slow down the waiting requests.
      if (status !== 'finished') await pause(50, signal);
    }
  };

  if (closedLoop) {
    const { numUsers, durationSeconds } = closedLoop;
    await Promise.all(Array.from({ length: numUsers }, () => sendInTurn(durationSeconds * 1000)));
  } else {
    for (const request of requests) {
      await pause(request.atMs - elapsedMs(), signal);
      if (signal.aborted) break;
      void send(request);
    }
  }
  return { outcomes: await Promise.all(outcomes), durationMs: elapsedMs() };
}

async function generate(
  serve: TabserveClient,
  { prompt, maxNewTokens, seed }: TraceRequest,
  { signal, onSubmitted }: Pick<LoadOptions, 'signal' | 'onSubmitted'>,
): Promise<Ending> {
  try {
    const response = serve.getHandle(TEXT_GENERATOR).remote(prompt, { maxNewTokens, seed, signal });
    onSubmitted(response.requestId);
    const { tokenIds, finishReason, usage, timings } = await response.result();
    const { numPromptTokens } = usage;
    return { status: 'finished', finishReason, numPromptTokens, numOutputTokens: tokenIds.length, timings };
  } catch (caught) {
    const { code } = toWireError(caught);
    if (code === 'REQUEST_CANCELLED') return { status: 'cancelled' };
    return code === 'BACK_PRESSURE' ? { status: 'rejected' } : { status: 'failed', code };
  }
}

/** Resolves after the delay, or when the run is stopped. */
async function pause(delayMs: number, signal: AbortSignal): Promise<void> {
  if (delayMs <= 0 || signal.aborted) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, delayMs);
  const stop = (): void => resolve();
  signal.addEventListener('abort', stop);
  await promise;
  clearTimeout(timer);
  signal.removeEventListener('abort', stop);
}
