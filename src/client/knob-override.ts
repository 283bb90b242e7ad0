/// <reference lib="esnext.disposable" preserve="true" />
import * as v from 'valibot';
import type { Optional } from '../batching/base/records.ts';
import { createOverrideId } from '../protocol/ids.ts';
import type { BatchingPolicy, BatchKnobs, HeldOverride } from '../protocol/status.ts';
import { OverrideEndedError } from '../protocol/errors/tabs.ts';
import type { Ask } from './links/calls.ts';

/** A temporary policy of the text generator. */
export type PolicyOverride = KnobOverride<BatchingPolicy>;

/**
 * Temporary knobs of this tab for one deployment, in force for all tabs. They end at `release()`, with the tab, or when the browser
 * freezes the tab. Then the users' own are in force again. A worker that takes over keeps them.
 */
export class KnobOverride<Knobs extends BatchingPolicy | BatchKnobs> implements AsyncDisposable {
  /** @internal */
  readonly overrideId = createOverrideId();
  readonly #deployment: string;
  readonly #schema: v.GenericSchema<unknown, Knobs>;
  readonly #ask: Ask;
  readonly #end = new AbortController();
  #knobs: Knobs | undefined;

  /** @internal */
  constructor(deployment: string, schema: v.GenericSchema<unknown, Knobs>, ask: Ask) {
    this.#deployment = deployment;
    this.#schema = schema;
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
    if (!this.#knobs || this.signal.aborted) return undefined;
    return { overrideId: this.overrideId, deployment: this.#deployment, knobs: this.#knobs };
  }

  /**
   * Turns knobs of the override. Knobs that are left out keep their value.
   *
   * @returns The knobs in force.
   * @throws InvalidOptionError or UnknownOptionError; then nothing changes.
   * @throws OverrideHeldError if another tab holds an override.
   * @throws The signal's reason once the override has ended.
   */
  async change(knobs: Optional<Knobs>): Promise<Knobs> {
    this.signal.throwIfAborted();
    const { overrideId } = this;
    const answer = await this.#ask({ type: 'set-override', overrideId, deployment: this.#deployment, knobs });
    // An earlier worker may have answered the release.
    if (this.signal.aborted) void this.#release();
    this.signal.throwIfAborted();
    const inForce = v.parse(this.#schema, answer);
    this.#knobs = inForce;
    return inForce;
  }

  /** Resolves when the users' own knobs are in force again. Never rejects. Does nothing if the override has ended. */
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
