import type { Burst, Contender, TimedAnswer, TimedRequest } from '../contender.ts';
import { offerEncoder } from './encoder.ts';

// The page of the libraries: each tab loads its own one only.

let loaded: Contender | undefined;

window.benchLibrary = {
  async load(spec, backend, numSlots) {
    const { library } = spec;
    if (library === 'tabserve')
      loaded = await (await import('./tabserve.ts')).loadTabserve(spec, backend, numSlots);
    else if (library === 'wllama')
      loaded = await (await import('./wllama.ts')).loadWllama(spec, backend, numSlots);
    else loaded = await (await import('../peers/pipeline.ts')).loadPipeline(spec, backend);
    return loaded.runsOn;
  },
  run(requests, leastMs) {
    if (!loaded) throw new Error('No library is loaded: call load() first.');
    return runBursts(loaded, requests, leastMs);
  },
};

offerEncoder();

async function runBursts(
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
  if (request.arrivalMs > 0) await new Promise((resolve) => void setTimeout(resolve, request.arrivalMs));
  const tokenMs: number[] = [];
  const onToken = (): void => void tokenMs.push(performance.now() - dueAtMs);
  const continuation = await contender.generate(request, onToken);
  return { continuation, tokenMs, latencyMs: performance.now() - dueAtMs };
}
