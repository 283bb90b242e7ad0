import {
  NoSuchModelError,
  type EmbeddingModelV4,
  type LanguageModelV4,
  type ProviderV4,
  type RerankingModelV4,
} from '@ai-sdk/provider';

import { TabserveEmbeddingModel, TabserveRerankingModel } from './encoder-models.ts';
import { TabserveLanguageModel } from './language-model.ts';
import { createModelOpener } from './model-opener.ts';
import { checkOptions, type TabserveOptions } from './options.ts';
import { readChat, readText } from './read-prompt.ts';

/** Makes models for the AI SDK. Calls of all tabs are batched in the one worker. */
export interface TabserveProvider extends ProviderV4 {
  /** A chat model, as `languageModel`. */
  (modelId: string): LanguageModelV4;
  /**
   * A chat model: the ID of a Hugging Face model with a chat template. One worker serves one model to all tabs, so a call to another
   * model first loads it for all tabs. Calls to a base model reject with NoChatTemplateError.
   */
  languageModel(modelId: string): LanguageModelV4;
  /** A model for `embed` and `embedMany`, beside the chat model: the ID of a Hugging Face model that makes vectors of texts. */
  embeddingModel(modelId: string): EmbeddingModelV4;
  /** A model for `rerank`, beside the chat model: the ID of a Hugging Face cross-encoder with one label. */
  rerankingModel(modelId: string): RerankingModelV4;
  /** A model that continues a prompt, such as `storyteller`, the embedded one. It takes no chats. */
  completionModel(modelId: string): LanguageModelV4;
}

/**
 * Makes a provider for the AI SDK (`LanguageModelV4`): `streamText({ model: tabserve(modelId), … })` runs in the page.
 *
 * @throws InvalidOptionError, UnknownOptionError for options that can't be. What a worker or a server refuses, the first call says.
 */
export function createTabserve(options: TabserveOptions): TabserveProvider {
  checkOptions(options);
  const open = createModelOpener(options);
  const languageModel = (modelId: string): LanguageModelV4 =>
    new TabserveLanguageModel(modelId, open, readChat);
  const completionModel = (modelId: string): LanguageModelV4 =>
    new TabserveLanguageModel(modelId, open, readText);
  return Object.assign((modelId: string) => languageModel(modelId), {
    specificationVersion: 'v4' as const,
    languageModel,
    completionModel,
    embeddingModel: (modelId: string) => new TabserveEmbeddingModel(modelId, open),
    rerankingModel: (modelId: string) => new TabserveRerankingModel(modelId, open),
    imageModel(modelId: string): never {
      throw new NoSuchModelError({ modelId, modelType: 'imageModel' });
    },
  });
}
