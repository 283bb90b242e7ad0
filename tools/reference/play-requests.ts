import { systemClock } from '../../src/batching/clock.ts';
import { Engine } from '../../src/batching/generation/engine.ts';
import type { FinishedEvent, StepEvent } from '../../src/batching/generation/events.ts';
import type { ModelRunner, Step } from '../../src/batching/generation/model-runner.ts';
import { DEFAULT_POLICY, type BatchingPolicy } from '../../src/batching/generation/policy.ts';
import type { GenerationRequest } from '../../src/batching/generation/request.ts';
import type { RequestId } from '../../src/batching/ids.ts';
import { createClientId, createRequestId } from '../../src/protocol/ids.ts';
import type { LoadedModel } from '../../src/worker/runtime/loaded-model.ts';
import { BackendRunner } from '../../src/worker/runtime/runner.ts';

/** A model that runs in the page, without a worker. */
export type ProbeModel = Pick<LoadedModel, 'config' | 'tokenizer' | 'backend'>;

export type Draft = Omit<GenerationRequest, 'id' | 'clientId'>;

export interface Play {
  readonly policy: Partial<BatchingPolicy>;
  readonly isPipelined: boolean;
  /** Each with the number of steps after which it arrives. */
  readonly arrivals: readonly { readonly draft: Draft; readonly afterSteps: number }[];
}

export interface Played {
  /** In the order of the arrivals. */
  readonly ids: readonly RequestId[];
  /** In the order of the arrivals. */
  readonly finished: readonly FinishedEvent[];
  readonly steps: readonly StepEvent[];
  readonly numSharedPrefills: number;
}

/** One life of an engine: all arrive and end. */
export async function play(
  model: Pick<ProbeModel, 'config' | 'backend'>,
  { policy, isPipelined, arrivals }: Play,
): Promise<Played> {
  const { promise: done, resolve, reject } = Promise.withResolvers<void>();
  const finished = new Map<RequestId, FinishedEvent>();
  const steps: StepEvent[] = [];
  const waiting = new Set(arrivals);
  const ids: RequestId[] = arrivals.map(() => createRequestId());
  let numSharedPrefills = 0;
  const runner = new BackendRunner(model.backend);
  const watched: ModelRunner = {
    isPipelined,
    kvCacheLimits: runner.kvCacheLimits,
    maxPrefillRows: runner.maxPrefillRows,
    maxScoredTokens: runner.maxScoredTokens,
    start: (step: Step) => {
      if (step.kind === 'prefill' && step.rows.length > 1) numSharedPrefills += 1;
      return runner.start(step);
    },
    resizeKvCache: (shape) => runner.resizeKvCache(shape),
  };
  const engine = new Engine({
    runner: watched,
    clock: systemClock,
    contextLength: model.config.contextLength,
    eosTokenIds: model.config.eosTokenIds,
    policy: { ...DEFAULT_POLICY, ...policy },
    listener: {
      onStep(event) {
        steps.push(event);
        for (const request of event.requests) {
          if (request.type === 'finished') finished.set(request.requestId, request);
          if (request.type === 'failed') reject(request.error);
        }
        submitDue();
      },
      onEnded: () => {},
    },
  });
  const clientId = createClientId();
  function submitDue(): void {
    const isIdle = engine.numRunning + engine.numWaiting === 0;
    for (const arrival of waiting) {
      if (arrival.afterSteps > steps.length && !isIdle) continue;
      waiting.delete(arrival);
      const id = ids[arrivals.indexOf(arrival)];
      if (id) engine.submitAll([{ ...arrival.draft, id, clientId }]);
    }
    if (finished.size === arrivals.length) resolve();
  }
  submitDue();
  await done;
  await engine.close();
  return { ids, finished: ids.flatMap((id) => finished.get(id) ?? []), steps, numSharedPrefills };
}
