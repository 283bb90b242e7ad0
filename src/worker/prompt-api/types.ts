import type { ConnectOptions, GenerationOptions, LoadModelOptions, Serve } from '../client/index.ts';

// The API's own types, as https://webmachinelearning.github.io/prompt-api/ names them. Those of @types/dom-chromium-ai are global,
// and a package may not bring such.

/** Whether a session can be created, and what has to be downloaded first. */
export type Availability = 'unavailable' | 'downloadable' | 'downloading' | 'available';

export const SAMPLING_MODES = [
  'most-predictable',
  'predictable',
  'balanced',
  'creative',
  'most-creative',
] as const;
/** How varied the answers are. */
export type LanguageModelSamplingMode = (typeof SAMPLING_MODES)[number];

export const MESSAGE_ROLES = ['system', 'user', 'assistant'] as const;
export type LanguageModelMessageRole = (typeof MESSAGE_ROLES)[number];

export const MESSAGE_TYPES = ['text', 'image', 'audio', 'tool-call', 'tool-response'] as const;
/** Text alone is supported; a session that expects another type is refused. */
export type LanguageModelMessageType = (typeof MESSAGE_TYPES)[number];

export interface LanguageModelMessageContent {
  readonly type: LanguageModelMessageType;
  /** A string for `text`. */
  readonly value: unknown;
}

export interface LanguageModelMessage {
  readonly role: LanguageModelMessageRole;
  readonly content: string | readonly LanguageModelMessageContent[];
  /** The beginning of the answer, which goes on from here. For the last message, of the role `assistant`. */
  readonly prefix?: boolean;
}

/** A text of the user, or messages. */
export type LanguageModelPrompt = string | readonly LanguageModelMessage[];

export interface LanguageModelExpected {
  readonly type: LanguageModelMessageType;
  /** BCP 47 tags. One that the browser does not know makes the session unavailable. */
  readonly languages?: readonly string[];
}

/** What `availability()` asks for. */
export interface LanguageModelCreateCoreOptions {
  readonly samplingMode?: LanguageModelSamplingMode;
  /** At least 1, rounded down. Ignored unless `legacy` is set, as browsers do in pages. */
  readonly topK?: number;
  /** From 0 to 2. Ignored unless `legacy` is set, as browsers do in pages. */
  readonly temperature?: number;
  readonly expectedInputs?: readonly LanguageModelExpected[];
  readonly expectedOutputs?: readonly LanguageModelExpected[];
  /** Not supported: a session with tools is refused. */
  readonly tools?: readonly object[];
}

type ProgressListener = (event: ProgressEvent) => unknown;

/** A target of `downloadprogress` events, whose `loaded` goes from 0 to 1. */
export interface CreateMonitor extends EventTarget {
  ondownloadprogress: ProgressListener | null;
  addEventListener(
    type: 'downloadprogress',
    listener: ProgressListener,
    options?: boolean | AddEventListenerOptions,
  ): void;
  addEventListener(
    type: string,
    listener: EventListenerOrEventListenerObject | null,
    options?: boolean | AddEventListenerOptions,
  ): void;
}

export interface LanguageModelCreateOptions extends LanguageModelCreateCoreOptions {
  /** Rejects `create()`; afterwards it destroys the session. The download goes on. */
  readonly signal?: AbortSignal;
  readonly monitor?: (monitor: CreateMonitor) => unknown;
  /** The beginning of the session. An overflow never evicts it. */
  readonly initialPrompts?: readonly LanguageModelMessage[];
}

export interface LanguageModelSignalOptions {
  readonly signal?: AbortSignal;
}

export interface LanguageModelPromptOptions extends LanguageModelSignalOptions {
  /** Not supported: a prompt with it is refused. */
  readonly responseConstraint?: object;
  readonly omitResponseConstraintInput?: boolean;
}

/** What `params()` resolves with. */
export interface LanguageModelParams {
  readonly defaultTopK: number;
  readonly maxTopK: number;
  readonly defaultTemperature: number;
  readonly maxTemperature: number;
}

/** Which model answers, and how. */
export interface ModelOptions {
  /**
   * The Hugging Face ID of a chat model. `create()` loads it, for all tabs, where another model serves. By default the model that
   * serves answers.
   */
  readonly model?: string;
  /** How `model` is loaded. */
  readonly load?: Omit<LoadModelOptions, 'signal'>;
  /**
   * Options of every prompt, for what the API has no name for. `maxNewTokens` is 1,024 by default, as an answer that may fill the
   * whole context takes the memory of it. What `samplingMode` sets cannot be set here.
   */
  readonly generation?: Omit<
    GenerationOptions,
    'n' | 'echo' | 'logprobs' | 'promptLogprobs' | 'temperature' | 'topK'
  >;
  /**
   * Adds what the specification keeps for browser extensions alone: `params()`, `topK` and `temperature`, and the former names
   * `inputUsage`, `inputQuota`, `measureInputUsage()` and `onquotaoverflow`. False by default.
   */
  readonly legacy?: boolean;
}

/** A client, or what `connect` takes: then the class connects when it is first asked. */
export type PromptApiOptions = ModelOptions & ({ readonly serve: Serve } | ConnectOptions);
