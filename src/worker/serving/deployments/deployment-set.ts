import type { BatchingPolicy } from '../../../batching/generation/policy.ts';
import { TEXT_GENERATOR } from '../../../protocol/generation.ts';
import type { BatchKnobs, DeploymentInfo } from '../../../protocol/status.ts';
import type { RequestId } from '../../../protocol/ids.ts';
import type { Submission } from '../../text-generation/submissions.ts';
import { unknownDeployment } from '../../../protocol/errors/deployment-messages.ts';

/** A deployment as the router and the knobs see it: the text generator, or one whose requests are batched. */
export interface ServedDeployment<Knobs extends BatchingPolicy | BatchKnobs = BatchingPolicy | BatchKnobs> {
  /** The knobs in force. */
  readonly knobs: Knobs;
  /** Accepts all submissions of one turn or none. Never throws: any outcome is sent as updates. */
  submitAll(submissions: readonly Submission[]): void;
  /** Does nothing for a request of another deployment, or one that has ended. */
  cancel(requestId: RequestId): void;
  /** @throws InvalidOptionError, UnknownOptionError; then no knob has changed. */
  configure(knobs: unknown): Knobs;
  /** These knobs with some changed, without taking effect. @throws InvalidOptionError, UnknownOptionError. */
  changed(own: Knobs, knobs: unknown): Knobs;
}

/** A deployment with batched requests. One that waits for a model is not listed. */
type BatchKnobbed = ServedDeployment<BatchKnobs> & { readonly isListed?: boolean };

/** The deployments of this worker, by name: the text generator, and those whose requests are batched. */
export class DeploymentSet {
  readonly textGenerator: ServedDeployment<BatchingPolicy>;
  readonly #batched: ReadonlyMap<string, BatchKnobbed>;
  readonly #all: ReadonlyMap<string, ServedDeployment>;

  constructor(textGenerator: ServedDeployment<BatchingPolicy>, batched: ReadonlyMap<string, BatchKnobbed>) {
    this.textGenerator = textGenerator;
    this.#batched = batched;
    this.#all = new Map<string, ServedDeployment>([[TEXT_GENERATOR, textGenerator], ...batched]);
  }

  /** All but the text generator, and but those without a model. */
  get batchedInfos(): readonly DeploymentInfo[] {
    const listed = [...this.#batched].filter(([, { isListed }]) => isListed !== false);
    return listed.map(([name, { knobs }]) => ({ name, knobs }));
  }

  /** @throws UnknownDeploymentError. */
  named(name: string): ServedDeployment {
    const deployment = this.#all.get(name);
    if (deployment) return deployment;
    throw unknownDeployment(name, [...this.#all.keys()]);
  }

  /** @throws UnknownDeploymentError. Any other outcome is sent as updates. */
  submitAll(name: string, requests: readonly Submission[]): void {
    this.named(name).submitAll(requests);
  }

  cancel(requestId: RequestId): void {
    for (const deployment of this.#all.values()) deployment.cancel(requestId);
  }
}
