import { systemClock } from '../../batching/clock.ts';
import type { Step, StepOutput } from '../../batching/generation/model-runner.ts';
import { RuntimeLostError } from '../../batching/generation/runtime-lost-error.ts';
import type { RequestId } from '../../protocol/ids.ts';
import type { ModelBackend } from '../runtime/model-backend.ts';
import type { RunSupervisor } from '../runtime/runner.ts';
import { StepWatchdog } from '../runtime/step-watchdog.ts';
import { parseSequenceId } from '../../protocol/sequence-id.ts';

export interface ModelGuardOptions {
  /** The most sequences that may run together at first, after a fault that their number may have caused. */
  readonly maxRows?: number;
  /** Called when no step of the model can run any more. Requests can still be cancelled. */
  onRuntimeLost(error: RuntimeLostError): void;
  /** Called when a step is about to begin. */
  onStepBegun?(requestIds: readonly RequestId[]): void;
  /** Calls `read`, which reads the prompt of this request. */
  whileReading?<Result>(requestId: RequestId, read: () => Result): Result;
}

/** After this many steps with `maxRows`, the policy alone limits the number of rows again. */
const NUM_CAUTIOUS_STEPS = 256;

/** Watches the steps of one model. A step that fails or hangs, or whose device is lost, rejects with `RuntimeLostError`. */
export class ModelGuard implements RunSupervisor {
  readonly #options: ModelGuardOptions;
  readonly #watchdog: StepWatchdog;
  /** Reject the running steps. */
  readonly #rejects = new Set<(cause: Error) => void>();
  #numEnded = 0;

  constructor(backend: Pick<ModelBackend, 'failure'>, options: ModelGuardOptions) {
    this.#options = options;
    this.#watchdog = new StepWatchdog(systemClock, (error) => this.#fail(error));
    void backend.failure?.then((error) => this.#fail(error));
  }

  /** How long a step may take before it counts as hung, in ms. */
  get patienceMs(): number {
    return this.#watchdog.patienceMs;
  }

  get maxRows(): number | undefined {
    return this.#numEnded < NUM_CAUTIOUS_STEPS ? this.#options.maxRows : undefined;
  }

  async run(step: Step, start: () => Promise<StepOutput>): Promise<StepOutput> {
    const requestIds = [...new Set(step.rows.map((row) => parseSequenceId(row.requestId).requestId))];
    const { promise, resolve, reject } = Promise.withResolvers<StepOutput>();
    this.#options.onStepBegun?.(requestIds);
    this.#rejects.add(reject);
    const end = this.#watchdog.begin();
    start().then(resolve, reject);
    try {
      return await promise;
    } catch (cause) {
      throw new RuntimeLostError(cause, requestIds);
    } finally {
      end();
      this.#rejects.delete(reject);
      this.#numEnded += 1;
    }
  }

  #fail(cause: Error): void {
    if (this.#rejects.size === 0) this.#options.onRuntimeLost(new RuntimeLostError(cause));
    for (const reject of this.#rejects) reject(cause);
  }
}
