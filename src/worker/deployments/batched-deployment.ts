import {
  batchBehindQueue,
  type BatchContext,
  type BatchEvent,
  type QueuedBatched,
} from '../../batching/batch.ts';
import type { Clock } from '../../batching/clock.ts';
import { BackPressureError, InvalidOptionError, RequestCancelledError } from '../../batching/errors.ts';
import { RuntimeLostError } from '../../batching/generation/runtime-lost-error.ts';
import { RequestQueue } from '../../batching/generation/request-queue.ts';
import { finiteIn, integerIn, parseOptions, type Validators } from '../../batching/generation/validate.ts';
import type { BatchKnobs, ClientId, RequestId } from '../protocol/protocol.ts';
import { WasmAbortError } from '../protocol/errors/runtime.ts';
import type { AnyDeployment } from './deployment.ts';
import { runSplitting } from './split-batch.ts';

export interface Answer {
  readonly requestId: RequestId;
  readonly result: unknown;
}

export interface BatchedDeploymentListener {
  /** Once per batch, when its handler has ended, with all that it answered. */
  onBatch(event: BatchEvent, answers: readonly Answer[]): void;
  /** @param error `RuntimeLostError` for a request that can go on elsewhere. */
  onFailed(requestId: RequestId, error: unknown): void;
  /** One request's wait, arrival -> cut, ms. */
  onQueueWait(queueWaitMs: number): void;
}

export interface BatchedSubmission {
  readonly requestId: RequestId;
  readonly clientId: ClientId;
  /** See `TurnOwner`. */
  readonly turn?: readonly string[];
  readonly input: unknown;
  readonly options: unknown;
}

/** An input on its way, with what is measured of it. */
interface Arrival {
  readonly id: RequestId;
  readonly clientId: ClientId;
  readonly turn: readonly string[];
  readonly input: unknown;
  readonly arrivedAtMs: number;
  readonly controller: AbortController;
}

/** With fewer items than the knob allows, after a fault that one of them may have caused. */
const NUM_CAUTIOUS_BATCHES = 64;

/** A request has no options of its own: its deployment's knobs are turned by `configure`. */
const NO_OPTIONS: Validators<object> = {};

const KNOBS: Validators<BatchKnobs> = {
  maxBatchSize: integerIn({ from: 1 }),
  batchWaitTimeoutMs: finiteIn({ from: 0 }),
  maxConcurrentBatches: integerIn({ from: 1 }),
};

/**
 * A deployment in service: requests by id in front, `batch` behind. In between the clients take turns: `batch` is handed
 * no more than its next batch can hold, and what is held back goes on round-robin.
 */
export class BatchedDeployment {
  readonly #deployment: AnyDeployment;
  readonly #clock: Clock;
  readonly #listener: BatchedDeploymentListener;
  readonly #call: QueuedBatched<Arrival, unknown>;
  readonly #maxQueuedRequests: number;
  readonly #maxRows: number;
  /** All that waits, whether held back or handed to `batch`: what the limit of the queue is about. */
  readonly #waiting = new RequestQueue<Arrival>();
  /** Of these, what is held back. */
  readonly #held = new RequestQueue<Arrival>();
  readonly #active = new Map<RequestId, Arrival>();
  /** Of the batch that is just ending: the batcher reports a batch after its callers have their answers. */
  #answers: Answer[] = [];
  #numBatches = 0;

  /** @param maxRows Items that may run together at first; after a while with so few, more are tried again. */
  constructor(
    deployment: AnyDeployment,
    clock: Clock,
    listener: BatchedDeploymentListener,
    maxRows = Infinity,
  ) {
    const { batchSizeFn, maxQueuedRequests = Infinity, ...options } = deployment.batchOptions ?? {};
    this.#deployment = deployment;
    this.#clock = clock;
    this.#listener = listener;
    this.#maxQueuedRequests = maxQueuedRequests;
    this.#maxRows = maxRows;
    this.#call = batchBehindQueue<Arrival, unknown>(
      (arrivals, context) => {
        const nowMs = clock.now();
        for (const { id, arrivedAtMs } of arrivals) {
          listener.onQueueWait(nowMs - arrivedAtMs);
          this.#waiting.remove(id);
        }
        this.#handOver();
        return this.#handle(arrivals, context);
      },
      {
        ...options,
        ...(batchSizeFn && { batchSizeFn: (arrivals) => batchSizeFn(arrivals.map(({ input }) => input)) }),
        clock,
        onBatch: (event) => {
          const answers = this.#answers;
          this.#answers = [];
          this.#numBatches += 1;
          listener.onBatch(event, answers);
          // Last: a throw in the deployment's own sink must not keep answers back. Returned: its promise may reject.
          return options.onBatch?.(event);
        },
      },
    );
  }

  get queueLength(): number {
    return this.#waiting.length;
  }

  get knobs(): BatchKnobs {
    const { maxBatchSize, batchWaitTimeoutMs, maxConcurrentBatches } = this.#call;
    return { maxBatchSize, batchWaitTimeoutMs, maxConcurrentBatches };
  }

  /** Never throws: the outcome is told to the listener. */
  submit(submission: BatchedSubmission): void {
    this.submitAll([submission]);
  }

  /** All or none of some submissions of one turn: an error of one is an error of all. */
  submitAll(submissions: readonly BatchedSubmission[]): void {
    try {
      const arrivals = submissions.map((submission) => this.#arrivalOf(submission));
      this.#admit(arrivals);
      this.#handOver(arrivals);
    } catch (error) {
      for (const { requestId } of submissions) this.#listener.onFailed(requestId, error);
    }
  }

  /** Does nothing where the request has ended already. */
  cancel(requestId: RequestId): void {
    const held = this.#held.remove(requestId);
    if (held) this.#fail(held, RequestCancelledError.because(undefined));
    else this.#active.get(requestId)?.controller.abort();
  }

  /** @throws InvalidOptionError, UnknownOptionError; then no knob is turned. */
  configure(knobs: unknown): BatchKnobs {
    const { maxBatchSize, batchWaitTimeoutMs, maxConcurrentBatches } = parseOptions('knobs', KNOBS, knobs);
    if (maxBatchSize !== undefined) this.#call.setMaxBatchSize(maxBatchSize);
    if (batchWaitTimeoutMs !== undefined) this.#call.setBatchWaitTimeoutMs(batchWaitTimeoutMs);
    if (maxConcurrentBatches !== undefined) this.#call.setMaxConcurrentBatches(maxConcurrentBatches);
    this.#handOver();
    return this.knobs;
  }

  async #handle(arrivals: readonly Arrival[], context: BatchContext): Promise<readonly unknown[]> {
    const inputs = arrivals.map(({ input }) => input);
    try {
      return await runSplitting((items, part) => this.#deployment.handler(items, part), inputs, context);
    } catch (cause) {
      if (!(cause instanceof WasmAbortError)) throw cause;
      const requestIds = arrivals.map(({ id }) => id);
      throw new RuntimeLostError(cause, requestIds);
    }
  }

  /** @throws InvalidOptionError, UnknownOptionError. */
  #arrivalOf({ requestId, clientId, turn = [], input, options }: BatchedSubmission): Arrival {
    parseOptions('options', NO_OPTIONS, options);
    return {
      id: requestId,
      clientId,
      turn,
      input: this.#deployment.checkInput(input),
      arrivedAtMs: this.#clock.now(),
      controller: new AbortController(),
    };
  }

  #admit(arrivals: readonly Arrival[]): void {
    const [first] = arrivals;
    if (!first) return;
    if (arrivals.length > this.#maxQueuedRequests)
      throw InvalidOptionError.ofCrowd(arrivals.length, this.#maxQueuedRequests);
    const limit = this.#waiting.limitFor(first, this.#maxQueuedRequests, arrivals.length);
    if (limit) {
      const { numMissing, ...details } = limit;
      const numRounds = Math.ceil(numMissing / this.#call.maxBatchSize);
      throw BackPressureError.of({ ...details, retryAfterMs: numRounds * this.#call.retryAfterMs });
    }
    for (const arrival of arrivals) {
      this.#waiting.add(arrival);
      this.#held.add(arrival);
    }
  }

  /** Enough to fill the next batch, and no more: whoever comes later still gets its turn in the one after it. */
  #handOver(arriving: readonly Arrival[] = []): void {
    const maxRows = this.#numBatches < NUM_CAUTIOUS_BATCHES ? this.#maxRows : Infinity;
    while (this.#call.queueLength < Math.min(this.#call.maxBatchSize, maxRows)) {
      const arrival = this.#held.take();
      if (!arrival) return;
      this.#active.set(arrival.id, arrival);
      void this.#run(arrival, !arriving.includes(arrival));
    }
  }

  async #run(arrival: Arrival, wasHeld: boolean): Promise<void> {
    const { id: requestId, arrivedAtMs, controller } = arrival;
    try {
      const { signal } = controller;
      const result = await this.#call(arrival, wasHeld ? { signal, arrivedAtMs } : { signal });
      this.#answers.push({ requestId, result });
    } catch (error) {
      this.#fail(arrival, error);
    } finally {
      this.#active.delete(requestId);
      this.#handOver();
    }
  }

  #fail({ id }: Arrival, error: unknown): void {
    this.#waiting.remove(id);
    this.#listener.onFailed(id, error);
  }
}
