import { systemClock } from '../../src/batching/base/clock.ts';
import { Engine } from '../../src/batching/generation/engine.ts';
import type { FinishedEvent, RequestEvent, StepEvent } from '../../src/batching/generation/events.ts';
import { DEFAULT_POLICY, type BatchingPolicy } from '../../src/batching/generation/policy.ts';
import type { GenerationRequest } from '../../src/batching/generation/request.ts';
import type { RequestId } from '../../src/batching/base/ids.ts';
import { createClientId, createRequestId } from '../../src/protocol/ids.ts';
import type { LoadedModel } from '../../src/worker/runtime/loaded-model.ts';
import { BackendRunner } from '../../src/worker/runtime/runner.ts';

export type Draft = Omit<GenerationRequest, 'id' | 'clientId'>;

export interface Play {
  readonly policy: Partial<BatchingPolicy>;
  readonly isPipelined: boolean;
  readonly arrivals: readonly Arrival[];
}

interface Arrival {
  readonly draft: Draft;
  /** The number of steps after which it arrives, at the latest when the engine is idle. */
  readonly afterSteps: number;
  readonly abortedAfterSteps?: number;
}

export interface Played {
  /** In the order of the arrivals. */
  readonly ids: readonly RequestId[];
  /** In the order of the arrivals, without those that were aborted. */
  readonly finished: readonly FinishedEvent[];
  readonly steps: readonly StepEvent[];
  readonly events: readonly RequestEvent[];
  readonly batchSizes: readonly number[];
  readonly numSharedPrefills: number;
  readonly numReusedTokens: number;
}

/**
 * Runs the requests through a new engine until all have ended.
 *
 * @param onStep Called after each step, before the next one is recorded.
 */
export async function play(
  { config, backend }: Pick<LoadedModel, 'config' | 'backend'>,
  { policy, isPipelined, arrivals }: Play,
  onStep: (step: StepEvent) => void = () => {},
): Promise<Played> {
  const clientId = createClientId();
  const requests = arrivals.map(({ draft, ...arrival }) => ({
    ...arrival,
    request: { ...draft, clientId, id: createRequestId() },
  }));
  const waiting = new Set(requests);
  const steps: StepEvent[] = [];
  const finished = new Map<RequestId, FinishedEvent>();
  let numAborted = 0;
  const ended = Promise.withResolvers<void>();
  const engine = new Engine({
    runner: Object.assign(new BackendRunner(backend), { isPipelined }),
    // By it, a software adapter is as fast as a GPU: as many steps are in flight.
    clock: isPipelined ? { ...systemClock, now: () => systemClock.now() / 100 } : systemClock,
    contextLength: config.contextLength,
    eosTokenIds: config.eosTokenIds,
    policy: { ...DEFAULT_POLICY, ...policy },
    listener: {
      onStep(step) {
        steps.push(step);
        for (const event of step.requests) {
          if (event.type === 'finished') finished.set(event.requestId, event);
          if (event.type === 'failed') ended.reject(event.error);
        }
        onStep(step);
        abortDue();
        submitDue();
      },
      onEnded: () => {},
    },
  });
  submitDue();
  await ended.promise;
  await engine.close();
  const ids = requests.map(({ request }) => request.id);
  const events = steps.flatMap((step) => step.requests);
  return {
    ids,
    finished: ids.flatMap((id) => finished.get(id) ?? []),
    steps,
    events,
    batchSizes: steps.flatMap(({ kind, batchSize }) => (kind === 'decode' ? batchSize : [])),
    numSharedPrefills: steps.filter(({ kind, batchSize }) => kind === 'prefill' && batchSize > 1).length,
    numReusedTokens: events.reduce(
      (sum, event) => sum + (event.type === 'started' ? event.numReusedTokens : 0),
      0,
    ),
  };

  function abortDue(): void {
    for (const { request, abortedAfterSteps } of requests)
      if (abortedAfterSteps === steps.length) numAborted += Number(engine.abortAll([request.id]));
  }

  function submitDue(): void {
    const isIdle = engine.numRunning + engine.numWaiting === 0;
    for (const arrival of waiting) {
      if (arrival.afterSteps > steps.length && !isIdle) continue;
      waiting.delete(arrival);
      engine.submitAll([arrival.request]);
    }
    if (finished.size + numAborted === requests.length) ended.resolve();
  }
}
