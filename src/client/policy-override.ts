/// <reference lib="esnext.disposable" preserve="true" />
import type { Optional } from '../batching/records.ts';
import { createOverrideId } from '../protocol/ids.ts';
import type { BatchingPolicy, HeldOverride } from '../protocol/status.ts';
import { OverrideEndedError } from '../protocol/errors/tabs.ts';
import type { Ask } from './calls.ts';

/**
 * A temporary policy of this tab, in force for all tabs. It ends at `release()`, with the tab, or when the browser freezes the tab.
 * Then the users' own policy is in force again. A worker that takes over keeps it.
 */
export class PolicyOverride implements AsyncDisposable {
  /** @internal */
  readonly overrideId = createOverrideId();
  readonly #ask: Ask;
  readonly #end = new AbortController();
  #policy: BatchingPolicy | undefined;

  /** @internal */
  constructor(ask: Ask) {
    this.#ask = ask;
  }

  /** Aborts when the override ends. Its reason is an OverrideEndedError, or the reason why the tab has no worker any more. */
  get signal(): AbortSignal {
    return this.#end.signal;
  }

  /**
   * For the next worker. Undefined until a worker has granted it, and after its end.
   *
   * @internal
   */
  get held(): HeldOverride | undefined {
    if (!this.#policy || this.signal.aborted) return undefined;
    return { overrideId: this.overrideId, policy: this.#policy };
  }

  /**
   * Turns knobs of the override. Knobs that are left out keep their value.
   *
   * @returns The policy in force.
   * @throws InvalidOptionError or UnknownOptionError; then nothing changes.
   * @throws OverrideHeldError if another tab holds an override.
   * @throws The signal's reason once the override has ended.
   */
  async change(knobs: Optional<BatchingPolicy>): Promise<BatchingPolicy> {
    this.signal.throwIfAborted();
    const policy = await this.#ask({ type: 'set-override', overrideId: this.overrideId, knobs });
    // An earlier worker may have answered the release.
    if (this.signal.aborted) void this.#release();
    this.signal.throwIfAborted();
    this.#policy = policy;
    return policy;
  }

  /** Resolves when the users' own policy is in force again. Never rejects. Does nothing if the override has ended. */
  async release(): Promise<void> {
    await this.end(OverrideEndedError.released());
  }

  /** As `release()`, at the end of a scope: `await using override = …`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.release();
  }

  /**
   * @internal
   * @param reason The signal's reason.
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
      // Without a worker, no override is held.
    }
  }
}
