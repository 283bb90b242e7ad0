import type { Clock } from '../../batching/clock.ts';
import type { Step } from '../../batching/generation/model-runner.ts';
import type { RequestId } from '../protocol/protocol.ts';
import type { ModelBackend } from '../runtime/model-backend.ts';
import type { RunSupervisor } from '../runtime/runner.ts';
import { StepWatchdog } from '../runtime/step-watchdog.ts';
import { parseSequenceId } from './sequence-id.ts';

export interface ModelGuardListener {
  /**
   * Nothing runs on the model any more, and no step of it will end; requests can still be cancelled.
   *
   * @param requestIds Of the step that failed; empty where none ran.
   */
  onFault(cause: unknown, requestIds: readonly RequestId[]): void;
  /** A step is about to begin. */
  onStepBegun?(requestIds: readonly RequestId[]): void;
}

/** With fewer rows than the policy has, after a fault that may have come of their number. */
const NUM_CAUTIOUS_STEPS = 256;

/** Looks after the steps of one model: knows which are under way, and when they, or what they run on, come to no end. */
export class ModelGuard implements RunSupervisor {
  readonly #listener: ModelGuardListener;
  readonly #watchdog: StepWatchdog;
  readonly #maxRows: number | undefined;
  /** In order of their beginning. */
  readonly #steps = new Set<Step>();
  #numEnded = 0;

  /** @param maxRows Sequences that may run together at first; after a while with so few, more are tried again. */
  constructor(
    backend: Pick<ModelBackend, 'failure'>,
    clock: Clock,
    listener: ModelGuardListener,
    maxRows?: number,
  ) {
    this.#listener = listener;
    this.#maxRows = maxRows;
    this.#watchdog = new StepWatchdog(clock, (error) => this.#failRunning(error));
    void this.#watchForFailure(backend);
  }

  /** How long a step may take before it is given up, ms. */
  get patienceMs(): number {
    return this.#watchdog.patienceMs;
  }

  get maxRows(): number | undefined {
    return this.#numEnded < NUM_CAUTIOUS_STEPS ? this.#maxRows : undefined;
  }

  begin(step: Step): () => void {
    this.#listener.onStepBegun?.(requestIdsOf(step));
    this.#steps.add(step);
    const end = this.#watchdog.begin();
    return () => {
      end();
      this.#steps.delete(step);
      this.#numEnded += 1;
    };
  }

  onFault(cause: unknown, step: Step): void {
    this.#listener.onFault(cause, requestIdsOf(step));
  }

  async #watchForFailure({ failure }: Pick<ModelBackend, 'failure'>): Promise<void> {
    this.#failRunning(await failure);
  }

  #failRunning(cause: Error): void {
    const [oldest] = this.#steps;
    this.#listener.onFault(cause, oldest ? requestIdsOf(oldest) : []);
  }
}

function requestIdsOf({ rows }: Step): readonly RequestId[] {
  return [...new Set(rows.map((row) => parseSequenceId(row.requestId).requestId))];
}
