import { batch, type BatchEvent, type Batched } from '../../batching/batch.ts';
import type { Clock } from '../../batching/clock.ts';
import { finiteIn, integerIn, parseOptions, type Validators } from '../../batching/generation/validate.ts';
import type { RequestId } from '../../batching/generation/request.ts';
import type { BatchKnobs } from '../protocol.ts';
import type { AnyDeployment } from './deployment.ts';

export interface Answer {
  readonly requestId: RequestId;
  readonly result: unknown;
}

export interface BatchedDeploymentListener {
  /** Once per batch, when its handler has ended, with all that it answered. */
  onBatch(event: BatchEvent, answers: readonly Answer[]): void;
  onFailed(requestId: RequestId, error: unknown): void;
  /** One request's wait, arrival -> cut, ms. */
  onQueueWait(queueWaitMs: number): void;
}

/** An input on its way, with what is measured of it. */
interface Arrival {
  readonly input: unknown;
  readonly arrivedAtMs: number;
}

/** A request has no options of its own: its deployment's knobs are turned by `configure`. */
const NO_OPTIONS: Validators<object> = {};

const KNOBS: Validators<BatchKnobs> = {
  maxBatchSize: integerIn({ from: 1 }),
  batchWaitTimeoutMs: finiteIn({ from: 0 }),
  maxConcurrentBatches: integerIn({ from: 1 }),
};

/** A deployment in service: requests by id in front, `batch` behind. */
export class BatchedDeployment {
  readonly #deployment: AnyDeployment;
  readonly #clock: Clock;
  readonly #listener: BatchedDeploymentListener;
  readonly #call: Batched<Arrival, unknown>;
  readonly #active = new Map<RequestId, AbortController>();
  /** Of the batch that is just ending: the batcher reports a batch after its callers have their answers. */
  #answers: Answer[] = [];

  constructor(deployment: AnyDeployment, clock: Clock, listener: BatchedDeploymentListener) {
    const { batchSizeFn, ...options } = deployment.batchOptions ?? {};
    this.#deployment = deployment;
    this.#clock = clock;
    this.#listener = listener;
    this.#call = batch<Arrival, unknown>(
      (arrivals, context) => {
        for (const { arrivedAtMs } of arrivals) listener.onQueueWait(clock.now() - arrivedAtMs);
        return deployment.handler(
          arrivals.map(({ input }) => input),
          context,
        );
      },
      {
        ...options,
        ...(batchSizeFn && { batchSizeFn: (arrivals) => batchSizeFn(arrivals.map(({ input }) => input)) }),
        clock,
        onBatch: (event) => {
          const answers = this.#answers;
          this.#answers = [];
          listener.onBatch(event, answers);
          // Last: a throw in the deployment's own sink must not keep answers back.
          options.onBatch?.(event);
        },
      },
    );
  }

  get queueLength(): number {
    return this.#call.queueLength;
  }

  get knobs(): BatchKnobs {
    const { maxBatchSize, batchWaitTimeoutMs, maxConcurrentBatches } = this.#call;
    return { maxBatchSize, batchWaitTimeoutMs, maxConcurrentBatches };
  }

  /** Never throws: the outcome is told to the listener. */
  async submit(requestId: RequestId, input: unknown, options: unknown): Promise<void> {
    const controller = new AbortController();
    this.#active.set(requestId, controller);
    try {
      parseOptions('options', NO_OPTIONS, options);
      const arrival = { input: this.#deployment.checkInput(input), arrivedAtMs: this.#clock.now() };
      const result = await this.#call(arrival, { signal: controller.signal });
      this.#answers.push({ requestId, result });
    } catch (error) {
      this.#listener.onFailed(requestId, error);
    } finally {
      this.#active.delete(requestId);
    }
  }

  /** Does nothing where the request has ended already. */
  cancel(requestId: RequestId): void {
    this.#active.get(requestId)?.abort();
  }

  /** @throws InvalidOptionError, UnknownOptionError; then no knob is turned. */
  configure(knobs: unknown): BatchKnobs {
    const { maxBatchSize, batchWaitTimeoutMs, maxConcurrentBatches } = parseOptions('knobs', KNOBS, knobs);
    if (maxBatchSize !== undefined) this.#call.setMaxBatchSize(maxBatchSize);
    if (batchWaitTimeoutMs !== undefined) this.#call.setBatchWaitTimeoutMs(batchWaitTimeoutMs);
    if (maxConcurrentBatches !== undefined) this.#call.setMaxConcurrentBatches(maxConcurrentBatches);
    return this.knobs;
  }
}
