import type { ConnectOptions, GenerationOptions, LoadModelOptions, TabserveClient } from '../index.ts';

// The API's own types, with the names of https://webmachinelearning.github.io/prompt-api/. A package can't use
// @types/dom-chromium-ai, because its types are global.

/** Whether a session can be created, and what has to be downloaded first. */
export type Availability = 'unavailable' | 'downloadable' | 'downloading' | 'available';

/** How varied the answers are. */
export type LanguageModelSamplingMode =
  | 'most-predictable'
  | 'predictable'
  | 'balanced'
  | 'creative'
  | 'most-creative';
export const SAMPLING_MODES: readonly LanguageModelSamplingMode[] = [
  'most-predictable',
  'predictable',
  'balanced',
  'creative',
  'most-creative',
];

/** The author of a message. */
export type LanguageModelMessageRole = 'system' | 'user' | 'assistant';
export const MESSAGE_ROLES: readonly LanguageModelMessageRole[] = ['system', 'user', 'assistant'];

/** Only text is supported. A session that expects another type is rejected. */
export type LanguageModelMessageType = 'text' | 'image' | 'audio' | 'tool-call' | 'tool-response';
export const MESSAGE_TYPES: readonly LanguageModelMessageType[] = [
  'text',
  'image',
  'audio',
  'tool-call',
  'tool-response',
];

/** A part of a message. */
export interface LanguageModelMessageContent {
  /** Only `text` is supported. */
  readonly type: LanguageModelMessageType;
  /** A string for `text`. */
  readonly value: unknown;
}

/** A message of a conversation. */
export interface LanguageModelMessage {
  /** The author. */
  readonly role: LanguageModelMessageRole;
  /** A text, or parts whose texts are joined. */
  readonly content: string | readonly LanguageModelMessageContent[];
  /** Marks the beginning of the answer, which the model continues. For the last message, with the role `assistant`. */
  readonly prefix?: boolean;
}

/** A text by the user, or messages. */
export type LanguageModelPrompt = string | readonly LanguageModelMessage[];

/** Types and languages of prompts or answers. */
export interface LanguageModelExpected {
  /** Only `text` is supported. */
  readonly type: LanguageModelMessageType;
  /** BCP 47 tags. A tag that the browser does not know makes the session unavailable. */
  readonly languages?: readonly string[];
}

/** Options of `availability()`. */
export interface LanguageModelCreateCoreOptions {
  /** Scales the model's own temperature. `balanced` does not change it. */
  readonly samplingMode?: LanguageModelSamplingMode;
  /** At least 1, rounded down. Ignored unless `legacy` is set, as browsers do in pages. */
  readonly topK?: number;
  /** From 0 to 2. Ignored unless `legacy` is set, as browsers do in pages. */
  readonly temperature?: number;
  /** Types and languages of prompts. */
  readonly expectedInputs?: readonly LanguageModelExpected[];
  /** Types and languages of answers. */
  readonly expectedOutputs?: readonly LanguageModelExpected[];
  /** Not supported: a session with tools is rejected. */
  readonly tools?: readonly object[];
}

/** A target of `downloadprogress` events, whose `loaded` goes from 0 to 1. */
export interface CreateMonitor extends EventTarget {
  /** A listener of `downloadprogress`. */
  ondownloadprogress: ((event: ProgressEvent) => unknown) | null;
  addEventListener(
    type: 'downloadprogress',
    listener: (event: ProgressEvent) => unknown,
    options?: boolean | AddEventListenerOptions,
  ): void;
  addEventListener(
    type: string,
    listener: EventListenerOrEventListenerObject | null,
    options?: boolean | AddEventListenerOptions,
  ): void;
}

export interface LanguageModelCreateOptions extends LanguageModelCreateCoreOptions {
  /** Rejects `create()`, and later destroys the session. The download continues. */
  readonly signal?: AbortSignal;
  /** Called once, before the download begins. */
  readonly monitor?: (monitor: CreateMonitor) => unknown;
  /** The beginning of the session. An overflow never evicts it. */
  readonly initialPrompts?: readonly LanguageModelMessage[];
}

/** Options of an operation that can be aborted. */
export interface LanguageModelSignalOptions {
  /** Rejects the operation with its reason. */
  readonly signal?: AbortSignal;
}

/** Options of a prompt. */
export interface LanguageModelPromptOptions extends LanguageModelSignalOptions {
  /** Not supported: a prompt with it is rejected. */
  readonly responseConstraint?: object;
  /** Rejected without `responseConstraint`, which isn't supported. */
  readonly omitResponseConstraintInput?: boolean;
}

/** The result of `params()`. */
export interface LanguageModelParams {
  /** The model's default. The size of its vocabulary if it samples from all tokens. */
  readonly defaultTopK: number;
  /** The largest `topK`. */
  readonly maxTopK: number;
  /** The model's default. */
  readonly defaultTemperature: number;
  /** The highest `temperature`. */
  readonly maxTemperature: number;
}

/** Which model answers, and how. */
export interface ModelOptions {
  /**
   * The Hugging Face ID of a chat model. `create()` loads it for all tabs if another model serves. By default, sessions use the
   * current model.
   */
  readonly model?: string;
  /** How to load `model`. */
  readonly load?: Omit<LoadModelOptions, 'signal'>;
  /**
   * Generation options of every prompt that the API itself lacks. `maxNewTokens` is 1,024 by default, because an answer that may fill
   * the whole context reserves memory for all of it. The options that `samplingMode` sets cannot be set here.
   */
  readonly generation?: Omit<
    GenerationOptions,
    'n' | 'echo' | 'logprobs' | 'promptLogprobs' | 'temperature' | 'topK'
  >;
  /**
   * Adds the members that the specification reserves for browser extensions: `params()`, `topK` and `temperature`, and the former names
   * `inputUsage`, `inputQuota`, `measureInputUsage()` and `onquotaoverflow`. False by default.
   */
  readonly legacy?: boolean;
}

/** A client, or the options of `connect`. With options, the class connects at its first use. */
export type PromptApiOptions = ModelOptions &
  (
    | {
        /** A connected client. */
        readonly serve: TabserveClient;
      }
    | ConnectOptions
  );
