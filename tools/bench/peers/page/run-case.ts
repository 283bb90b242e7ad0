import type { Contender, Continuation, PeerRequest } from '../contender.ts';

export interface TimedRequest extends PeerRequest {
  /** After the first request of the case, in ms. */
  readonly arrivalMs: number;
}

export interface TimedAnswer {
  readonly continuation: Continuation;
  /** From when the request was due, so that a blocked page counts, to its first token. */
  readonly ttftMs: number;
  /** Likewise to its last. */
  readonly latencyMs: number;
}

/** All requests of a case, once. */
export interface Burst {
  /** From the first request to the last answer. */
  readonly wallMs: number;
  /** In the order of the requests. */
  readonly answers: readonly TimedAnswer[];
}

/** Bursts back to back. */
export type CaseRun = readonly Burst[];

/** @param leastMs Bursts repeat for at least this long, so that the page draws meanwhile, as it does for users. */
export async function runCase(
  contender: Contender,
  requests: readonly TimedRequest[],
  leastMs: number,
): Promise<CaseRun> {
  const bursts: Burst[] = [];
  const startedAtMs = performance.now();
  do bursts.push(await runBurst(contender, requests));
  while (performance.now() - startedAtMs < leastMs);
  return bursts;
}

/** Sends each request when it is due; those that are due at once go out in one turn. */
async function runBurst(contender: Contender, requests: readonly TimedRequest[]): Promise<Burst> {
  const startedAtMs = performance.now();
  const answers = await Promise.all(requests.map((request) => answer(contender, request, startedAtMs)));
  return { wallMs: performance.now() - startedAtMs, answers };
}

async function answer(
  contender: Contender,
  request: TimedRequest,
  startedAtMs: number,
): Promise<TimedAnswer> {
  const dueAtMs = startedAtMs + request.arrivalMs;
  if (request.arrivalMs > 0) await timePassed(request.arrivalMs);
  let ttftMs: number | undefined;
  const continuation = await contender.generate(request, () => (ttftMs ??= performance.now() - dueAtMs));
  return { continuation, ttftMs: ttftMs ?? NaN, latencyMs: performance.now() - dueAtMs };
}

function timePassed(durationMs: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, durationMs);
  });
}
