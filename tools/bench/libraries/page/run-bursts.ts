import type { Burst, Contender, TimedAnswer, TimedRequest } from '../contender.ts';

/** Bursts back to back. */
export async function runBursts(
  contender: Contender,
  requests: readonly TimedRequest[],
  leastMs: number,
): Promise<readonly Burst[]> {
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
  const tokenMs: number[] = [];
  const onToken = (): void => void tokenMs.push(performance.now() - dueAtMs);
  const continuation = await contender.generate(request, onToken);
  return { continuation, tokenMs, latencyMs: performance.now() - dueAtMs };
}

function timePassed(durationMs: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, durationMs);
  });
}
