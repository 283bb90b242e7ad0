import type { GenerationOptions } from '../protocol/generation.ts';
import type { DeploymentResponse } from './deployment-response.ts';
import type { GenerationResponse } from './generation-response.ts';

/** Options of every request. */
export interface RequestOptions {
  /** Cancels the request when it aborts. */
  readonly signal?: AbortSignal;
}

/** The deployment that continues prompts. */
export interface TextGeneratorHandle {
  /**
   * Submits a prompt. Never throws: an error in it rejects the response.
   *
   * @param prompt Text, or the ids of its tokens. Non-empty; shorter than the model's context, in tokens, or as long where
   *   `maxNewTokens` is 0.
   */
  remote(
    prompt: string | readonly number[],
    options?: GenerationOptions & RequestOptions,
  ): GenerationResponse;
  /** Submits several prompts as one turn: all are accepted, or none. */
  remoteAll(
    prompts: readonly (string | readonly number[])[],
    options?: GenerationOptions & RequestOptions,
  ): readonly GenerationResponse[];
}

/** Any other deployment: one input, one answer, batched in between. */
export interface DeploymentHandle<Input, Output> {
  /** Submits an input. Never throws: an error in it rejects the response. */
  remote(input: Input, options?: RequestOptions): DeploymentResponse<Output>;
  /** Submits several inputs as one turn: all are accepted, or none. */
  remoteAll(inputs: readonly Input[], options?: RequestOptions): readonly DeploymentResponse<Output>[];
}

/** Inputs and outputs of the deployments that come with the page. */
export interface KnownDeployments {
  readonly adder: { readonly input: number; readonly output: number };
  /** Numbers in the order of the model's features; euros. */
  readonly 'house-price': { readonly input: readonly number[]; readonly output: number };
}
