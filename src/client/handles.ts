import type { ChatMessage } from '../protocol/chat.ts';
import type { GenerationOptions } from '../protocol/generation.ts';
import type { DeploymentResponse } from './deployment-response.ts';
import type { GenerationResponse } from './generation-response.ts';

/** Options of every request. */
export interface RequestOptions {
  /** Cancels the request when it aborts. */
  readonly signal?: AbortSignal | undefined;
}

/** Calls a deployment. */
export interface Handle<Input, Options, Response> {
  /** Submits an input. Never throws: an error rejects the response, and names the wrong option or part of the input. */
  remote(input: Input, options?: Options): Response;
  /** Submits several inputs as one turn. Either all are accepted or none. */
  remoteAll(inputs: readonly Input[], options?: Options): readonly Response[];
}

/**
 * A text, the IDs of its tokens, or a chat: non-empty; shorter than the model's context, in tokens, or as long where
 * `maxNewTokens` is 0. A chat goes through the model's own chat template.
 */
export type Prompt = string | readonly number[] | readonly ChatMessage[];

/** The deployment that continues prompts. */
export type TextGeneratorHandle = Handle<Prompt, GenerationOptions & RequestOptions, GenerationResponse>;

/** Any other deployment: one input, one answer, batched in between. */
export type DeploymentHandle<Input, Output> = Handle<Input, RequestOptions, DeploymentResponse<Output>>;

/** Inputs and outputs of deployments, by name. */
export type DeploymentMap = Readonly<
  Record<
    string,
    {
      /** The input of `remote`. */
      readonly input: unknown;
      /** The value that the response resolves with. */
      readonly output: unknown;
    }
  >
>;
