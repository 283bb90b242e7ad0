import type { Prompt } from '../protocol/chat.ts';
import type {
  Embedding,
  EmbeddingOptions,
  EmbeddingText,
  Ranking,
  RerankInput,
  RerankOptions,
} from '../protocol/embedding.ts';
import type { GenerationOptions } from '../protocol/generation.ts';
import type { DeploymentResponse, GenerationResponse } from './responses.ts';

/** Options of every request. */
export interface RequestOptions {
  /** Cancels the request when it aborts. */
  readonly signal?: AbortSignal | undefined;
}

/** Calls a deployment. */
export interface Handle<Input, Options, Response> {
  /** Submits an input. Never throws: an error rejects the response, and names the wrong option or part of the input. */
  remote(input: Input, options?: Options): Response;
  /** Submits a list of up to 4,096 inputs as one turn. Either all are accepted or none. Never throws, as `remote`. */
  remoteAll(inputs: readonly Input[], options?: Options): readonly Response[];
}

/** The deployment that continues prompts. */
export type TextGeneratorHandle = Handle<Prompt, GenerationOptions & RequestOptions, GenerationResponse>;

/** Any other deployment: one input, one answer, batched in between. */
export type DeploymentHandle<Input, Output> = Handle<Input, RequestOptions, DeploymentResponse<Output>>;

/** The deployment that makes vectors of texts. Its model is one that `loadModel` has put beside the text generator's. */
export interface EmbedderHandle {
  /** The vector of one text. Never throws, as `Handle.remote`. */
  remote(text: EmbeddingText, options?: EmbeddingOptions & RequestOptions): DeploymentResponse<Embedding>;
  /** The vectors of up to 10,000 texts, in order. A text that can't be read fails all of them, and is named. */
  remote(
    texts: readonly EmbeddingText[],
    options?: EmbeddingOptions & RequestOptions,
  ): DeploymentResponse<readonly Embedding[]>;
}

/** The deployment that ranks documents. Its model is a cross-encoder that `loadModel` has put beside the text generator's. */
export interface RerankerHandle {
  /** Ranks up to 10,000 documents. Never throws, as `Handle.remote`. */
  remote(input: RerankInput, options?: RerankOptions & RequestOptions): DeploymentResponse<Ranking>;
}

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
