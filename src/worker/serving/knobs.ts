import { updatePolicy, type BatchingPolicy } from '../../batching/generation/policy.ts';
import { OverrideHeldError } from '../../protocol/errors/tabs.ts';
import { TEXT_GENERATOR } from '../../protocol/generation.ts';
import type { BatchKnobs, HeldOverride, KnobSettings, WorkerStatus } from '../../protocol/status.ts';
import type { ClientId, OverrideId } from '../../protocol/ids.ts';
import type { DeploymentSet } from './deployments/deployment-set.ts';
import type { ServedDeployment } from './deployments/served-deployment.ts';

/** The part of the deployments that has knobs. */
interface Configurable extends Pick<DeploymentSet, 'batchedInfos'> {
  readonly textGenerator: Pick<DeploymentSet['textGenerator'], 'knobs' | 'configure'>;
  named(name: string): Pick<ServedDeployment, 'configure'>;
}

/**
 * The knobs of all deployments, shown in the status. Tabs remember them and send them to the next worker.
 *
 * The text generator's policy has two layers: the users' policy, and at most one client's override, which replaces it. When the
 * override ends, the users' policy is in force again.
 */
export class Knobs {
  readonly #deployments: Configurable;
  readonly #onChange: () => void;
  #revision = 0;
  /** The users' policy. */
  #base: BatchingPolicy;
  #override: { readonly overrideId: OverrideId; readonly clientId: ClientId } | undefined;

  constructor(deployments: Configurable, onChange: () => void) {
    this.#deployments = deployments;
    this.#onChange = onChange;
    this.#base = deployments.textGenerator.knobs;
  }

  /** The knobs as the status shows them. Without `override` if none is held. */
  get shown(): Pick<WorkerStatus, 'knobs' | 'override'> {
    const { textGenerator, batchedInfos } = this.#deployments;
    const knobs = { revision: this.#revision, policy: this.#base, deployments: batchedInfos };
    const override = this.#override && {
      overrideId: this.#override.overrideId,
      policy: textGenerator.knobs,
    };
    return { knobs, ...(override && { override }) };
  }

  /**
   * Turns the users' knobs. During an override, those of the text generator take effect when it ends.
   *
   * @throws UnknownDeploymentError, InvalidOptionError, UnknownOptionError; then nothing changes.
   */
  configure(deployment: string, knobs: unknown): BatchingPolicy | BatchKnobs {
    const inForce =
      deployment === TEXT_GENERATOR
        ? this.#configureBase(knobs)
        : this.#deployments.named(deployment).configure(knobs);
    this.#revision += 1;
    this.#onChange();
    return inForce;
  }

  /**
   * Begins an override, or changes the one with this ID. Knobs that are left out keep their value. Returns the policy in
   * force.
   *
   * @throws OverrideHeldError, InvalidOptionError, UnknownOptionError; then nothing changes.
   */
  setOverride(clientId: ClientId, overrideId: OverrideId, knobs: unknown): BatchingPolicy {
    if (this.#override && this.#override.overrideId !== overrideId) throw OverrideHeldError.byAnotherTab();
    const policy = this.#deployments.textGenerator.configure(knobs);
    this.#override = { overrideId, clientId };
    this.#onChange();
    return policy;
  }

  releaseOverride(overrideId: OverrideId): void {
    if (this.#override?.overrideId === overrideId) this.#endOverride();
  }

  /** Ends the override of a client that is gone. */
  forget(clientId: ClientId): void {
    if (this.#override?.clientId === clientId) this.#endOverride();
  }

  /** Takes over the knobs of an earlier worker that a tab has seen. Skips those that this worker rejects. */
  adopt({ revision, policy, deployments }: KnobSettings): void {
    if (revision <= this.#revision) return;
    this.#revision = revision;
    ignoreRefusal(() => this.#configureBase(policy));
    for (const { name, knobs } of deployments)
      ignoreRefusal(() => this.#deployments.named(name).configure(knobs));
    this.#onChange();
  }

  /** Continues an override that a tab held at an earlier worker, unless another tab's override came first. */
  adoptOverride(clientId: ClientId, { overrideId, policy }: HeldOverride): void {
    ignoreRefusal(() => this.setOverride(clientId, overrideId, policy));
  }

  #configureBase(knobs: unknown): BatchingPolicy {
    const { textGenerator } = this.#deployments;
    this.#base = this.#override ? updatePolicy(this.#base, knobs) : textGenerator.configure(knobs);
    return this.#base;
  }

  #endOverride(): void {
    this.#override = undefined;
    this.#deployments.textGenerator.configure(this.#base);
    this.#onChange();
  }
}

function ignoreRefusal(configure: () => unknown): void {
  try {
    configure();
  } catch {
    // The knobs in force do not change.
  }
}
