// The package's entry `tabserve/prompt-api`. Importing it has no effect, not even on a server.
export { createLanguageModel, type LanguageModelClass } from './create-language-model.ts';
export {
  createSemanticEmbedder,
  type SemanticEmbedderClass,
  type SemanticEmbedderCreateOptions,
} from './create-semantic-embedder.ts';
export { installPromptApi } from './install.ts';
export type { LanguageModel } from './language-model.ts';
export type {
  SemanticEmbedder,
  SemanticEmbedderEmbedOptions,
  SemanticEmbedderResult,
  SemanticEmbedderTaskType,
} from './semantic-embedder.ts';
export type {
  Availability,
  CreateMonitor,
  LanguageModelCreateCoreOptions,
  LanguageModelCreateOptions,
  LanguageModelExpected,
  LanguageModelMessage,
  LanguageModelMessageContent,
  LanguageModelMessageRole,
  LanguageModelMessageType,
  LanguageModelParams,
  LanguageModelPrompt,
  LanguageModelPromptOptions,
  LanguageModelSamplingMode,
  LanguageModelSignalOptions,
  LanguageModelTool,
  ModelOptions,
  PromptApiOptions,
} from './types.ts';
