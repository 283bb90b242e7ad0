import type { TurnOwner } from '../../batching/generation/request-queue.ts';
import type { BatchedDeployment } from '../deployments/batched-deployment.ts';
import { UnknownDeploymentError } from '../protocol/errors/deployments.ts';
import {
  TEXT_GENERATOR,
  type DeploymentInfo,
  type RequestId,
  type SubmittedRequest,
} from '../protocol/protocol.ts';
import type { TextGeneratorDeployment } from '../text-generation/text-generator-deployment.ts';

/** A request with the client whose turn it waits for. */
export type OwnedRequest = SubmittedRequest & TurnOwner;

/** The deployments of this worker by name: the text generator, and those with a batched handler. */
export class DeploymentSet {
  readonly textGenerator: TextGeneratorDeployment;
  readonly #batched: ReadonlyMap<string, BatchedDeployment>;

  constructor(textGenerator: TextGeneratorDeployment, batched: ReadonlyMap<string, BatchedDeployment>) {
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

  /** @throws UnknownDeploymentError; any other outcome is told as updates. */
  submitAll(name: string, requests: readonly OwnedRequest[]): void {
    if (name === TEXT_GENERATOR)
      this.textGenerator.submitAll(requests.map(({ input, ...request }) => ({ ...request, prompt: input })));
    else this.batched(name).submitAll(requests);
  }

  cancel(requestId: RequestId): void {
    this.textGenerator.cancel(requestId);
    for (const deployment of this.#batched.values()) deployment.cancel(requestId);
  }
}
