import { systemClock } from '../../batching/base/clock.ts';
import type { KvCacheLimits, KvShape } from '../../batching/generation/kv-memory.ts';
import type { ModelRunner, StartedStep, Step, StepOutput } from '../../batching/generation/model-runner.ts';
import type { StepEvent } from '../../batching/generation/events.ts';
import { RuntimeLostError } from '../../batching/generation/runtime-lost-error.ts';
import type { RequestId } from '../../protocol/ids.ts';
import type { ModelBackend } from '../runtime/model-backend.ts';
import { StepWatchdog } from '../runtime/faults/step-watchdog.ts';
import { parseSequenceId } from '../../protocol/sequence-id.ts';

export interface ModelGuardOptions {
  /** The most sequences that may run together at first, after a fault that their number may have caused. */
  readonly maxRows?: number;
  /** Called when no step of the model can run any more. Requests can still be cancelled. */
  onRuntimeLost(error: RuntimeLostError): void;
  /** Called when a step is about to begin. */
  onStepBegun?(requestIds: readonly RequestId[]): void;
  /** Called when a step has ended. */
  onStepEnded?(step: StepEvent): void;
  /** Calls `read`, which reads the prompt of this request. */
  whileReading?<Result>(requestId: RequestId, read: () => Result): Result;
}

/** After this many steps with `maxRows`, the policy alone limits the number of rows again. */
const NUM_CAUTIOUS_STEPS = 256;

/** A runner that rejects with `RuntimeLostError` if a step fails or hangs, or the device is lost. */
export class ModelGuard implements ModelRunner {
  readonly isPipelined: boolean;
  readonly maxPrefillRows: number;
  readonly maxScoredTokens: number;
  readonly maxGuessedTokens: number;
  readonly #runner: ModelRunner;
  readonly #options: ModelGuardOptions;
  readonly #watchdog: StepWatchdog;
  /** Reject the running steps. */
  readonly #rejects = new Set<(cause: Error) => void>();
  #numEnded = 0;

  /** @param failure The backend's: resolves when its device fails. */
  constructor(runner: ModelRunner, failure: ModelBackend['failure'], options: ModelGuardOptions) {
    this.isPipelined = runner.isPipelined;
    this.maxPrefillRows = runner.maxPrefillRows;
    this.maxScoredTokens = runner.maxScoredTokens;
    this.maxGuessedTokens = runner.maxGuessedTokens;
    this.#runner = runner;
    this.#options = options;
    this.#watchdog = new StepWatchdog(systemClock, (error) => this.#fail(error));
    void failure?.then((error) => this.#fail(error));
  }

  get kvCacheLimits(): KvCacheLimits {
    const maxRows = (): number => this.#maxRows;
    return {
      ...this.#runner.kvCacheLimits,
      get maxRows() {
        return maxRows();
      },
    };
  }

  /** How long a step may take before it counts as hung, in ms. */
  get patienceMs(): number {
    return this.#watchdog.patienceMs;
  }

  start(step: Step): StartedStep {
    const requestIds = [...new Set(step.rows.map((row) => parseSequenceId(row.requestId).requestId))];
    this.#options.onStepBegun?.(requestIds);
    const endWatch = this.#watchdog.begin();
    const started = this.#runner.start(step);
    const output = this.#guarded(started.output, requestIds).finally(endWatch);
    const { promise: launched, resolve } = Promise.withResolvers<void>();
    for (const event of [started.launched, output])
      event.then(
        () => resolve(),
        () => resolve(),
      );
    return { launched, output };
  }

  resizeKvCache(shape: KvShape): void {
    this.#runner.resizeKvCache(shape);
  }

  get #maxRows(): number {
    const { maxRows = Infinity } = this.#options;
    return this.#numEnded < NUM_CAUTIOUS_STEPS ? maxRows : Infinity;
  }

  async #guarded(running: Promise<StepOutput>, requestIds: readonly RequestId[]): Promise<StepOutput> {
    const { promise: failure, reject } = Promise.withResolvers<never>();
    this.#rejects.add(reject);
    try {
      return await Promise.race([running, failure]);
    } catch (cause) {
      throw new RuntimeLostError(cause, requestIds);
    } finally {
      this.#rejects.delete(reject);
      this.#numEnded += 1;
    }
  }

  #fail(cause: Error): void {
    if (this.#rejects.size === 0) this.#options.onRuntimeLost(new RuntimeLostError(cause));
    for (const reject of this.#rejects) reject(cause);
  }
}
