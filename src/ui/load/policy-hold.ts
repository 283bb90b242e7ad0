import type { PolicyOverride, Serve } from '../../worker/client/client.ts';
import type { BatchingPolicy } from '../../worker/protocol/status.ts';

/** The policy of an experiment's runs. After `release()`, or when this tab closes, the users' own policy is back. */
export class PolicyHold {
  readonly #serve: Serve;
  #override: PolicyOverride | undefined;

  constructor(serve: Serve) {
    this.#serve = serve;
  }

  /**
   * Sets knobs for the next run; without any, the policy stays. Resolves with the policy in force. Rejects with
   * OverrideHeldError while another load test sets the policy.
   */
  async apply(knobs: Partial<BatchingPolicy>): Promise<BatchingPolicy> {
    if (Object.keys(knobs).length === 0) return this.#serve.status().policy;
    this.#override ??= await this.#serve.overridePolicy();
    return this.#override.change(knobs);
  }

  /** Aborts with the given signal, and when the policy is lost in the middle of a run. */
  during(signal: AbortSignal): AbortSignal {
    return this.#override ? AbortSignal.any([signal, this.#override.signal]) : signal;
  }

  /** @throws OverrideEndedError: the policy may have changed in the middle of the last run. */
  throwIfLost(): void {
    this.#override?.signal.throwIfAborted();
  }

  async release(): Promise<void> {
    await this.#override?.release();
  }
}
