import type { BatchedDeployment } from './batched-deployment.ts';
import { UnknownDeploymentError } from '../../../protocol/errors/deployments.ts';
import { TEXT_GENERATOR } from '../../../protocol/generation.ts';
import type { DeploymentInfo } from '../../../protocol/status.ts';
import type { RequestId } from '../../../protocol/ids.ts';
import type { Submission } from '../../text-generation/prompt-generator.ts';
import type { TextDeployment } from '../../text-generation/text-deployment.ts';

/** The deployments of this worker, by name: the text generator, and those with a batched handler. */
export class DeploymentSet {
  readonly textGenerator: TextDeployment;
  readonly #batched: ReadonlyMap<string, BatchedDeployment>;

  constructor(textGenerator: TextDeployment, batched: ReadonlyMap<string, BatchedDeployment>) {
    this.textGenerator = textGenerator;
    this.#batched = batched;
  }

  /** All but the text generator. */
  get batchedInfos(): readonly DeploymentInfo[] {
    return [...this.#batched].map(([name, { knobs }]) => ({ name, knobs }));
  }

  /** @throws UnknownDeploymentError. */
  batched(name: string): BatchedDeployment {
    const deployment = this.#batched.get(name);
    if (deployment) return deployment;
    throw UnknownDeploymentError.of(name, [TEXT_GENERATOR, ...this.#batched.keys()]);
  }

  /** @throws UnknownDeploymentError. Any other outcome is sent as updates. */
  submitAll(name: string, requests: readonly Submission[]): void {
    if (name === TEXT_GENERATOR) this.textGenerator.submitAll(requests);
    else this.batched(name).submitAll(requests);
  }

  cancel(requestId: RequestId): void {
    this.textGenerator.cancel(requestId);
    for (const deployment of this.#batched.values()) deployment.cancel(requestId);
  }
}
