import { updatePolicy, type BatchingPolicy } from '../../batching/generation/policy.ts';
import type { ClientId, OverrideId } from '../protocol/ids.ts';
import type { HeldOverride } from '../protocol/status.ts';
import { OverrideHeldError } from '../protocol/errors/tabs.ts';
import type { TextDeployment } from '../text-generation/text-deployment.ts';

type Configurable = Pick<TextDeployment, 'policy' | 'configure'>;

/**
 * The text generator's policy in two layers: the users' policy, and at most one client's override, which hides it. When the
 * override ends, the users' policy is in force again.
 */
export class PolicyBook {
  readonly #generator: Configurable;
  #base: BatchingPolicy;
  #override: { readonly overrideId: OverrideId; readonly clientId: ClientId } | undefined;

  constructor(generator: Configurable) {
    this.#generator = generator;
    this.#base = generator.policy;
  }

  /** The users' policy. */
  get base(): BatchingPolicy {
    return this.#base;
  }

  get override(): HeldOverride | undefined {
    return this.#override && { overrideId: this.#override.overrideId, policy: this.#generator.policy };
  }

  /**
   * Changes the users' policy. Under an override this shows only when the override ends.
   *
   * @throws InvalidOptionError, UnknownOptionError; then nothing changes.
   */
  configure(knobs: unknown): BatchingPolicy {
    this.#base = this.#override ? updatePolicy(this.#base, knobs) : this.#generator.configure(knobs);
    return this.#base;
  }

  /**
   * Begins an override, or changes the one with this id. Knobs that are left out keep their value. Returns the policy in
   * force.
   *
   * @throws OverrideHeldError, InvalidOptionError, UnknownOptionError; then nothing changes.
   */
  setOverride(clientId: ClientId, overrideId: OverrideId, knobs: unknown): BatchingPolicy {
    if (this.#override && this.#override.overrideId !== overrideId) throw OverrideHeldError.byAnotherTab();
    const policy = this.#generator.configure(knobs);
    this.#override = { overrideId, clientId };
    return policy;
  }

  /** Returns whether there was such an override. */
  release(overrideId: OverrideId): boolean {
    return this.#override?.overrideId === overrideId && this.#restore();
  }

  /** Ends the override of a client that is gone. Returns whether there was one. */
  forget(clientId: ClientId): boolean {
    return this.#override?.clientId === clientId && this.#restore();
  }

  #restore(): true {
    this.#override = undefined;
    this.#generator.configure(this.#base);
    return true;
  }
}
