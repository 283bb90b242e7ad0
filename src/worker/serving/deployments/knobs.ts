import type { BatchingPolicy } from '../../../batching/generation/policy.ts';
import { OverrideHeldError } from '../../../protocol/errors/tabs.ts';
import { TEXT_GENERATOR } from '../../../protocol/generation.ts';
import type { BatchKnobs, HeldOverride, KnobSettings, WorkerStatus } from '../../../protocol/status.ts';
import type { ClientId, OverrideId } from '../../../protocol/ids.ts';
import type { DeploymentSet, ServedDeployment } from './deployment-set.ts';

/** The part of the deployments that has knobs. */
interface Configurable extends Pick<DeploymentSet, 'batchedInfos'> {
  readonly textGenerator: Pick<DeploymentSet['textGenerator'], 'knobs'>;
  named(name: string): Pick<ServedDeployment, 'knobs' | 'configure' | 'changed'>;
}

/** A change of an override: which one, of which deployment, and some of its knobs. */
interface OverrideChange extends Pick<HeldOverride, 'overrideId' | 'deployment'> {
  readonly knobs: unknown;
}

interface Override extends Pick<HeldOverride, 'overrideId' | 'deployment'> {
  readonly clientId: ClientId;
  /** The users' own knobs of that deployment. */
  own: BatchingPolicy | BatchKnobs;
}

/**
 * The knobs of all deployments, shown in the status. Tabs remember them and send them to the next worker.
 *
 * They have two layers: the users' own, and at most one client's override of one deployment, which replaces them there. When the
 * override ends, the users' own are in force again.
 */
export class Knobs {
  readonly #deployments: Configurable;
  readonly #onChange: () => void;
  #revision = 0;
  #override: Override | undefined;

  constructor(deployments: Configurable, onChange: () => void) {
    this.#deployments = deployments;
    this.#onChange = onChange;
  }

  /** The knobs as the status shows them. Without `override` if none is held. */
  get shown(): Pick<WorkerStatus, 'knobs' | 'override'> {
    const { textGenerator, batchedInfos } = this.#deployments;
    const { overrideId, deployment, own } = this.#override ?? {};
    const deployments = batchedInfos.map((info) =>
      own && !('policy' in own) && info.name === deployment ? { ...info, knobs: own } : info,
    );
    const policy = own && 'policy' in own ? own : textGenerator.knobs;
    const knobs = { revision: this.#revision, policy, deployments };
    if (overrideId === undefined || deployment === undefined) return { knobs };
    return { knobs, override: { overrideId, deployment, knobs: this.#deployments.named(deployment).knobs } };
  }

  /**
   * Turns the users' knobs. Those of a deployment that is overridden take effect when the override ends.
   *
   * @throws UnknownDeploymentError, InvalidOptionError, UnknownOptionError; then nothing changes.
   */
  configure(deployment: string, knobs: unknown): BatchingPolicy | BatchKnobs {
    const own = this.#configureOwn(deployment, knobs);
    this.#revision += 1;
    this.#onChange();
    return own;
  }

  /**
   * Begins an override, or changes the one with this ID. Knobs that are left out keep their value. Returns the knobs in force.
   *
   * @throws OverrideHeldError, UnknownDeploymentError, InvalidOptionError, UnknownOptionError; then nothing changes.
   */
  setOverride(
    clientId: ClientId,
    { overrideId, deployment, knobs }: OverrideChange,
  ): BatchingPolicy | BatchKnobs {
    const held = this.#override;
    if (held && (held.overrideId !== overrideId || held.deployment !== deployment))
      throw OverrideHeldError.by('another');
    const served = this.#deployments.named(deployment);
    const { knobs: own } = served;
    const inForce = served.configure(knobs);
    this.#override = { overrideId, deployment, clientId, own: held?.own ?? own };
    this.#onChange();
    return inForce;
  }

  releaseOverride(overrideId: OverrideId): void {
    if (this.#override?.overrideId === overrideId) this.#endOverride(this.#override);
  }

  /** Ends the override of a client that is gone. */
  forget(clientId: ClientId): void {
    if (this.#override?.clientId === clientId) this.#endOverride(this.#override);
  }

  /** Takes over the knobs of an earlier worker that a tab has seen. Skips those that this worker rejects. */
  adopt({ revision, policy, deployments }: KnobSettings): void {
    if (revision <= this.#revision) return;
    this.#revision = revision;
    for (const { name, knobs } of [{ name: TEXT_GENERATOR, knobs: policy }, ...deployments])
      ignoreRefusal(() => this.#configureOwn(name, knobs));
    this.#onChange();
  }

  /** Continues an override that a tab held at an earlier worker, unless another tab's override came first. */
  adoptOverride(clientId: ClientId, held: HeldOverride): void {
    ignoreRefusal(() => this.setOverride(clientId, held));
  }

  #configureOwn(name: string, knobs: unknown): BatchingPolicy | BatchKnobs {
    const deployment = this.#deployments.named(name);
    if (this.#override?.deployment !== name) return deployment.configure(knobs);
    this.#override.own = deployment.changed(this.#override.own, knobs);
    return this.#override.own;
  }

  #endOverride({ deployment, own }: Override): void {
    this.#override = undefined;
    this.#deployments.named(deployment).configure(own);
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
