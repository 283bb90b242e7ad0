import { systemClock } from '../../src/batching/clock.ts';
import { Engine } from '../../src/batching/generation/engine.ts';
import type { FinishedEvent, StepEvent } from '../../src/batching/generation/events.ts';
import type { ModelRunner } from '../../src/batching/generation/model-runner.ts';
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

/** Runs the requests through a new engine until all have ended. */
export async function play(
  model: Pick<ProbeModel, 'config' | 'backend'>,
  { policy, isPipelined, arrivals }: Play,
): Promise<Played> {
  let numSharedPrefills = 0;
  const player = new Player(arrivals);
  const engine = new Engine({
    runner: watch(new BackendRunner(model.backend), isPipelined, () => (numSharedPrefills += 1)),
    clock: systemClock,
    contextLength: model.config.contextLength,
    eosTokenIds: model.config.eosTokenIds,
    policy: { ...DEFAULT_POLICY, ...policy },
    listener: {
      onStep(event) {
        player.record(event);
        player.submitDue(engine);
      },
      onEnded: () => {},
    },
  });
  player.submitDue(engine);
  await player.done;
  await engine.close();
  const { ids, finished, steps } = player;
  return { ids, finished, steps, numSharedPrefills };
}

/** Submits requests when they are due, and records what the engine reports. */
class Player {
  readonly ids: readonly RequestId[];
  readonly steps: StepEvent[] = [];
  readonly #arrivals: Play['arrivals'];
  readonly #waiting: Set<Play['arrivals'][number]>;
  readonly #finished = new Map<RequestId, FinishedEvent>();
  readonly #clientId = createClientId();
  readonly #done = Promise.withResolvers<void>();

  constructor(arrivals: Play['arrivals']) {
    this.ids = arrivals.map(() => createRequestId());
    this.#arrivals = arrivals;
    this.#waiting = new Set(arrivals);
  }

  /** Resolves when all requests have finished. */
  get done(): Promise<void> {
    return this.#done.promise;
  }

  get finished(): readonly FinishedEvent[] {
    return this.ids.flatMap((id) => this.#finished.get(id) ?? []);
  }

  record(event: StepEvent): void {
    this.steps.push(event);
    for (const request of event.requests) {
      if (request.type === 'finished') this.#finished.set(request.requestId, request);
      if (request.type === 'failed') this.#done.reject(request.error);
    }
  }

  submitDue(engine: Engine): void {
    const isIdle = engine.numRunning + engine.numWaiting === 0;
    for (const arrival of this.#waiting) {
      if (arrival.afterSteps > this.steps.length && !isIdle) continue;
      this.#waiting.delete(arrival);
      const id = this.ids[this.#arrivals.indexOf(arrival)];
      if (id) engine.submitAll([{ ...arrival.draft, id, clientId: this.#clientId }]);
    }
    if (this.#finished.size === this.ids.length) this.#done.resolve();
  }
}

/** Calls `onSharedPrefill` at each prefill of several rows. */
function watch(runner: BackendRunner, isPipelined: boolean, onSharedPrefill: () => void): ModelRunner {
  return {
    isPipelined,
    kvCacheLimits: runner.kvCacheLimits,
    maxPrefillRows: runner.maxPrefillRows,
    maxScoredTokens: runner.maxScoredTokens,
    start(step) {
      if (step.kind === 'prefill' && step.rows.length > 1) onSharedPrefill();
      return runner.start(step);
    },
    resizeKvCache: (shape) => runner.resizeKvCache(shape),
  };
}
