import {
  batchFrom,
  type Batched,
  type BatchContext,
  type BatchOptions,
  type Resolve,
} from '../../../batching/batch/batch.ts';
import { TurnQueue } from '../../../batching/batch/turn-queue.ts';
import type { Clock } from '../../../batching/base/clock.ts';
import { backPressure, crowd } from '../../../batching/queue/queue-errors.ts';
import type { TurnOwner } from '../../../batching/queue/request-queue.ts';
import { RuntimeLostError } from '../../../batching/generation/runtime-lost-error.ts';
import { parseOptions } from '../../../batching/base/parse-options.ts';
import { finiteIn, integerIn, type Validators } from '../../../batching/base/validate.ts';
import type { BatchRecord } from '../../../protocol/stats.ts';
import type { BatchKnobs } from '../../../protocol/status.ts';
import type { RequestId } from '../../../protocol/ids.ts';
import type { SubmittedRequest } from '../../../protocol/requests.ts';
import { DeviceLostError, NoWebGpuAdapterError } from '../../../protocol/errors/runtime.ts';
import { StepHangError, WasmAbortError } from '../../runtime/faults/runtime-errors.ts';
import type { AnyDeployment } from '../../../protocol/deployment.ts';
import { isErrorCode, namingInput, ofInput, toWireError } from '../../../protocol/wire-errors.ts';
import { HandlerHungError } from '../../../protocol/errors/deployments.ts';
import { HangWatch } from './hang-watch.ts';
import type { ServedDeployment } from './deployment-set.ts';
import { runSplitting } from './split-batch.ts';
import { ModelFileMissingError } from '../../../protocol/errors/model.ts';
import { OnnxModelError } from '../../../protocol/errors/onnx.ts';
import { NoRuntimeError, RuntimeFileError, WasmForbiddenError } from '../../../protocol/errors/worker.ts';

export interface Answer {
  readonly requestId: RequestId;
  readonly result: unknown;
}

export interface BatchedDeploymentListener {
  /** Called once per batch, with its answers, after its handler has ended. */
  onBatch(batch: BatchRecord, answers: readonly Answer[]): void;
  /** @param error `RuntimeLostError` for a request that another worker can continue. */
  onFailed(requestId: RequestId, error: unknown): void;
  /** Called for each request in a batch, with its time from arrival to the cut in ms. */
  onQueueWait(queueWaitMs: number): void;
}

export type BatchedSubmission = TurnOwner &
  Pick<SubmittedRequest, 'requestId' | 'input' | 'options' | 'place'>;

interface Arrival extends TurnOwner {
  readonly id: RequestId;
  readonly input: unknown;
  readonly place: number | undefined;
  readonly arrivedAtMs: number;
}

/** A request that is not settled. */
interface Active {
  readonly controller: AbortController;
  isRunning: boolean;
}

/** Number of batches that stay small after a fault that their size may have caused. */
const NUM_CAUTIOUS_BATCHES = 64;

/** Requests have no options. `configure` changes the deployment's knobs. */
const NO_OPTIONS: Validators<object> = {};

const KNOBS: Validators<Omit<BatchKnobs, 'sortWindow'>> = {
  maxBatchSize: integerIn({ from: 1 }),
  batchWaitTimeoutMs: finiteIn({ from: 0 }),
  maxConcurrentBatches: integerIn({ from: 1 }),
};

const SORTING_KNOBS: Validators<BatchKnobs> = { ...KNOBS, sortWindow: integerIn({ from: 1 }) };

/** Serves a deployment with `batch`. Adds request IDs, and fairness between clients. */
export class BatchedDeployment implements ServedDeployment<BatchKnobs> {
  readonly #deployment: AnyDeployment;
  readonly #clock: Clock;
  readonly #listener: BatchedDeploymentListener;
  readonly #queue: TurnQueue<Arrival, Resolve<unknown>>;
  readonly #call: Batched<Arrival, unknown>;
  readonly #hangWatch: HangWatch;
  readonly #active = new Map<RequestId, Active>();
  /** The answers of the ending batch. The batcher settles its calls before it reports the batch. */
  #answers: Answer[] = [];
  #numBatches = 0;
  /** The last error on the console. */
  #told: unknown = this;

  /** @param maxRows Limit of items in the first batches. */
  constructor(
    deployment: AnyDeployment,
    clock: Clock,
    listener: BatchedDeploymentListener,
    maxRows = Infinity,
  ) {
    const { onBatch, ...options } = deployment.batchOptions ?? {};
    this.#deployment = deployment;
    this.#queue = new TurnQueue(options.sortWindow ?? 1);
    this.#clock = clock;
    this.#hangWatch = new HangWatch(deployment.name, clock, () => this.#refuseWaiting());
    this.#listener = listener;
    this.#call = batchFrom<Arrival, unknown>(
      this.#queue,
      (arrivals, context) => this.#handle(arrivals, context),
      {
        ...options,
        maxQueuedRequests: Infinity, // #admit enforces it, with a share for each client
        ...this.#measureOf(options, maxRows),
        clock,
        onBatch: (event) => {
          const answers = this.#answers;
          this.#answers = [];
          const batchIndex = this.#numBatches++;
          const queueLength = this.#queue.length;
          listener.onBatch({ ...event, deployment: deployment.name, batchIndex, queueLength }, answers);
          // Last, because it may throw. Returned, because its promise may reject.
          return onBatch?.(event);
        },
      },
    );
  }

  get knobs(): BatchKnobs {
    const { maxBatchSize, batchWaitTimeoutMs, maxConcurrentBatches } = this.#call;
    const knobs = { maxBatchSize, batchWaitTimeoutMs, maxConcurrentBatches };
    return this.#isSorted ? { ...knobs, sortWindow: this.#queue.window } : knobs;
  }

  /** Whether items have sizes, which sorting goes by. */
  get #isSorted(): boolean {
    return this.#deployment.batchOptions?.batchSizeFn !== undefined;
  }

  /** Accepts all submissions of one turn or none: an error in one fails all. Never throws: the listener gets the outcome. */
  submitAll(submissions: readonly BatchedSubmission[]): void {
    try {
      const arrivals = submissions.map((submission) => this.#arrivalOf(submission));
      this.#admit(arrivals);
      for (const arrival of arrivals) void this.#run(arrival);
    } catch (error) {
      this.#tell(error);
      for (const { requestId } of submissions) this.#listener.onFailed(requestId, error);
    }
  }

  /** Does nothing if the request has ended. */
  cancel(requestId: RequestId): void {
    this.#active.get(requestId)?.controller.abort();
  }

  /** @throws InvalidOptionError, UnknownOptionError; then no knob has changed. */
  configure(knobs: unknown): BatchKnobs {
    const { maxBatchSize, batchWaitTimeoutMs, maxConcurrentBatches, sortWindow } = this.#parse(knobs);
    if (maxBatchSize !== undefined) this.#call.setMaxBatchSize(maxBatchSize);
    if (batchWaitTimeoutMs !== undefined) this.#call.setBatchWaitTimeoutMs(batchWaitTimeoutMs);
    if (maxConcurrentBatches !== undefined) this.#call.setMaxConcurrentBatches(maxConcurrentBatches);
    if (sortWindow !== undefined) this.#queue.window = sortWindow;
    return this.knobs;
  }

  changed(own: BatchKnobs, knobs: unknown): BatchKnobs {
    return { ...own, ...this.#parse(knobs) };
  }

  #parse(knobs: unknown): Partial<BatchKnobs> {
    return parseOptions('knobs', this.#isSorted ? SORTING_KNOBS : KNOBS, knobs);
  }

  async #handle(arrivals: readonly Arrival[], context: BatchContext): Promise<readonly unknown[]> {
    const nowMs = this.#clock.now();
    for (const { id, arrivedAtMs } of arrivals) {
      this.#listener.onQueueWait(nowMs - arrivedAtMs);
      const active = this.#active.get(id);
      if (active) active.isRunning = true;
    }
    const inputs = arrivals.map(({ input }) => input);
    try {
      const answers = await this.#hangWatch.watch(context, () =>
        runSplitting((items, part) => this.#deployment.handler(items, part), inputs, context),
      );
      const end = answers.find(endsRuntime);
      if (end !== undefined) throw end;
      return answers;
    } catch (cause) {
      if (!endsRuntime(cause)) throw cause;
      const requestIds = arrivals.map(({ id }) => id);
      throw new RuntimeLostError(cause, requestIds);
    }
  }

  /** Callers get an error's message alone: the console has its class and its stack, once for a batch that it fails. */
  #tell(error: unknown): void {
    if (error === this.#told || !isFault(error)) return;
    this.#told = error;
    console.error(`The deployment \`${this.#deployment.name}\` failed:`, error);
  }

  /** @throws InvalidOptionError, UnknownOptionError. */
  #arrivalOf({ requestId: id, input, options, place, ...owner }: BatchedSubmission): Arrival {
    parseOptions('options', NO_OPTIONS, options);
    const checked = namingInput(place, () => this.#deployment.checkInput(input));
    const { clientId, turn = [], isBackground = false } = owner;
    return { id, clientId, turn, isBackground, input: checked, place, arrivedAtMs: this.#clock.now() };
  }

  /** The deployment's `batchSizeFn`. In the first batches, at most `maxRows` items fit. */
  #measureOf(
    { batchSizeFn }: BatchOptions<unknown>,
    maxRows: number,
  ): Pick<BatchOptions<Arrival>, 'batchSizeFn'> {
    if (!batchSizeFn && maxRows === Infinity) return {};
    return {
      batchSizeFn: (arrivals) => {
        if (arrivals.length > maxRows && this.#numBatches < NUM_CAUTIOUS_BATCHES) return Infinity;
        return batchSizeFn ? batchSizeFn(arrivals.map(({ input }) => input)) : arrivals.length;
      },
    };
  }

  /** Fails the requests behind a handler that hangs, if no batch can run beside it. */
  #refuseWaiting(): void {
    const refusal = this.#hangWatch.refusal(this.#call.maxConcurrentBatches);
    if (!refusal) return;
    console.warn(refusal.message);
    for (const { controller, isRunning } of this.#active.values()) if (!isRunning) controller.abort(refusal);
  }

  /**
   * @throws BackPressureError if the queue has no room for all of them; InvalidOptionError if it never will; HandlerHungError if no
   *   batch can run.
   */
  #admit(arrivals: readonly Arrival[]): void {
    const { maxQueuedRequests = Infinity } = this.#deployment.batchOptions ?? {};
    const hung = this.#hangWatch.refusal(this.#call.maxConcurrentBatches);
    if (hung) throw hung;
    const [first] = arrivals;
    if (!first || first.isBackground) return;
    if (arrivals.length > maxQueuedRequests) throw crowd(arrivals.length, maxQueuedRequests);
    const limit = this.#queue.limitFor(first, maxQueuedRequests, arrivals.length);
    if (!limit) return;
    const { numMissing, ...details } = limit;
    const numRounds = Math.ceil(numMissing / this.#call.maxBatchSize);
    throw backPressure({ ...details, retryAfterMs: numRounds * this.#call.retryAfterMs });
  }

  async #run(arrival: Arrival): Promise<void> {
    const { id: requestId, place } = arrival;
    const controller = new AbortController();
    this.#active.set(requestId, { controller, isRunning: false });
    try {
      const result = await this.#call(arrival, { signal: controller.signal });
      this.#answers.push({ requestId, result });
    } catch (cause) {
      const { reason, aborted } = controller.signal;
      if (!aborted) this.#tell(cause);
      const error: unknown = reason instanceof HandlerHungError ? reason : cause;
      this.#listener.onFailed(requestId, isOfInput(error) ? ofInput(error, place) : error);
    } finally {
      this.#active.delete(requestId);
    }
  }
}

/** Whether nothing runs in this worker any more. */
function endsRuntime(cause: unknown): boolean {
  return (
    cause instanceof WasmAbortError || cause instanceof DeviceLostError || cause instanceof StepHangError
  );
}

/** Whether an error is none of those whose code and message say all. */
function isFault(cause: unknown): boolean {
  return !isErrorCode(toWireError(cause).code);
}

/** Errors of the model that a handler runs, or of the handler, which fail any input. */
const OF_ANY = [
  HandlerHungError,
  ModelFileMissingError,
  NoRuntimeError,
  NoWebGpuAdapterError,
  OnnxModelError,
  RuntimeFileError,
  RuntimeLostError,
  WasmForbiddenError,
];

/** Whether an error may be about the input of the request that it fails. */
function isOfInput(error: unknown): error is Error {
  return error instanceof Error && !OF_ANY.some((OfAny) => error instanceof OfAny);
}
