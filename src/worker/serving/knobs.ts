import { TEXT_GENERATOR } from '../protocol/generation.ts';
import type { BatchingPolicy, HeldOverride, KnobSettings, WorkerStatus } from '../protocol/status.ts';
import type { ClientId, OverrideId } from '../protocol/ids.ts';
import type { DeploymentSet } from './deployment-set.ts';
import { PolicyBook } from './policy-book.ts';

/** The knobs of all deployments, shown in the status. Tabs remember them and bring them to the next worker. */
export class Knobs {
  readonly #deployments: DeploymentSet;
  readonly #policies: PolicyBook;
  readonly #onChange: () => void;
  #revision = 0;

  constructor(deployments: DeploymentSet, onChange: () => void) {
    this.#deployments = deployments;
    this.#policies = new PolicyBook(deployments.textGenerator);
    this.#onChange = onChange;
  }

  /** As the status shows them; without `override` where none is held. */
  get shown(): Pick<WorkerStatus, 'knobs' | 'override'> {
    const { base: policy, override } = this.#policies;
    const knobs = { revision: this.#revision, policy, deployments: this.#deployments.batchedInfos };
    return { knobs, ...(override && { override }) };
  }

  /** @throws UnknownDeploymentError, InvalidOptionError, UnknownOptionError; then nothing changes. */
  configure(deployment: string, knobs: unknown): unknown {
    const inForce =
      deployment === TEXT_GENERATOR
        ? this.#policies.configure(knobs)
        : this.#deployments.batched(deployment).configure(knobs);
    this.#revision += 1;
    this.#onChange();
    return inForce;
  }

  /** @throws OverrideHeldError, InvalidOptionError, UnknownOptionError; then nothing changes. */
  setOverride(clientId: ClientId, overrideId: OverrideId, knobs: unknown): BatchingPolicy {
    const policy = this.#policies.setOverride(clientId, overrideId, knobs);
    this.#onChange();
    return policy;
  }

  releaseOverride(overrideId: OverrideId): void {
    if (this.#policies.release(overrideId)) this.#onChange();
  }

  /** Ends the override of a client that is gone. */
  forget(clientId: ClientId): void {
    if (this.#policies.forget(clientId)) this.#onChange();
  }

  /** Takes over what a tab has seen at an earlier worker, as far as this worker has such deployments and limits. */
  adopt({ revision, policy, deployments }: KnobSettings): void {
    if (revision <= this.#revision) return;
    this.#revision = revision;
    ignoreRefusal(() => this.#policies.configure(policy));
    for (const { name, knobs } of deployments)
      ignoreRefusal(() => this.#deployments.batched(name).configure(knobs));
    this.#onChange();
  }

  /** Goes on with an override that a tab held at an earlier worker, unless another tab's override came first. */
  adoptOverride(clientId: ClientId, { overrideId, policy }: HeldOverride): void {
    ignoreRefusal(() => this.#policies.setOverride(clientId, overrideId, policy));
    this.#onChange();
  }
}

function ignoreRefusal(configure: () => unknown): void {
  try {
    configure();
  } catch {
    // The knobs in force stay.
  }
}
