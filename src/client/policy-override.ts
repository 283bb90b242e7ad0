import { createOverrideId } from '../protocol/ids.ts';
import type { BatchingPolicy, HeldOverride } from '../protocol/status.ts';
import { OverrideEndedError } from '../protocol/errors/tabs.ts';
import type { Ask } from './calls.ts';

/**
 * A temporary policy of this tab, in force for all tabs. It ends at `release()`, with the tab, or when the browser puts the
 * tab away; then the users' own policy is in force again. A worker that takes over goes on with it.
 */
export class PolicyOverride {
  /** @internal */
  readonly overrideId = createOverrideId();
  readonly #ask: Ask;
  readonly #end = new AbortController();
  #policy: BatchingPolicy | undefined;

  /** @internal */
  constructor(ask: Ask) {
    this.#ask = ask;
  }

  /** Aborts when the override ends; its reason is an OverrideEndedError, or why the tab has no worker any more. */
  get signal(): AbortSignal {
    return this.#end.signal;
  }

  /**
   * For the next worker; undefined until a worker has granted it, and after its end.
   *
   * @internal
   */
  get held(): HeldOverride | undefined {
    if (!this.#policy || this.signal.aborted) return undefined;
    return { overrideId: this.overrideId, policy: this.#policy };
  }

  /**
   * Turns knobs of the override; those that are left out stay as they are.
   *
   * @returns The policy in force.
   * @throws InvalidOptionError or UnknownOptionError; then nothing changes.
   * @throws OverrideHeldError if another tab holds an override.
   * @throws The signal's reason once the override has ended.
   */
  async change(knobs: Partial<BatchingPolicy>): Promise<BatchingPolicy> {
    this.signal.throwIfAborted();
    const policy = await this.#ask({ type: 'set-override', overrideId: this.overrideId, knobs });
    // The release may have been answered by a worker before the one that has granted it.
    if (this.signal.aborted) void this.#release();
    this.signal.throwIfAborted();
    this.#policy = policy;
    return policy;
  }

  /** Resolves when the users' own policy is in force again. Never rejects; does nothing where the override has ended. */
  async release(): Promise<void> {
    await this.end(OverrideEndedError.released());
  }

  /**
   * @internal
   * @param reason The signal's.
   */
  async end(reason: Error): Promise<void> {
    if (this.signal.aborted) return;
    this.#end.abort(reason);
    await this.#release();
  }

  async #release(): Promise<void> {
    try {
      await this.#ask({ type: 'release-override', overrideId: this.overrideId });
    } catch {
      // Without a worker nothing holds it.
    }
  }
}
