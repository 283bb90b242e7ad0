// The package's entry `tabserve/prompt-api`. It has no effect when it is imported, on a server neither.
export { createLanguageModel, type LanguageModelClass } from './create-language-model.ts';
export { installPromptApi } from './install.ts';
export type { LanguageModel } from './language-model.ts';
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
  ModelOptions,
  PromptApiOptions,
} from './types.ts';
