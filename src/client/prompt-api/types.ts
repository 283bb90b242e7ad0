import type { ConnectOptions, GenerationOptions, LoadModelOptions, TabserveClient } from '../index.ts';

// The API's own types, as https://webmachinelearning.github.io/prompt-api/ names them. Those of @types/dom-chromium-ai are global,
// and a package may not bring such.

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

/** Only text is supported; a session that expects another type is refused. */
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
  /** The beginning of the answer, which goes on from here. For the last message, of the role `assistant`. */
  readonly prefix?: boolean | undefined;
}

/** A text of the user, or messages. */
export type LanguageModelPrompt = string | readonly LanguageModelMessage[];

/** A type of content of prompts or answers. */
export interface LanguageModelExpected {
  /** Only `text` is supported. */
  readonly type: LanguageModelMessageType;
  /** BCP 47 tags. One that the browser does not know makes the session unavailable. */
  readonly languages?: readonly string[] | undefined;
}

/** A function that the model may call. */
export interface LanguageModelTool {
  /** 1 to 64 letters, digits, `_` and `-`. */
  readonly name: string;
  /** Tells the model when to call it. */
  readonly description: string;
  /** A JSON Schema of the type `object`, which the input fits. */
  readonly inputSchema: object;
  /** Called with the model's input. The model is told the text that it resolves with. An error rejects the prompt. */
  execute(input: unknown): Promise<string>;
}

/** Options of `availability()`. */
export interface LanguageModelCreateCoreOptions {
  /** Scales the model's own temperature; `balanced` leaves it as it is. */
  readonly samplingMode?: LanguageModelSamplingMode | undefined;
  /** At least 1, rounded down. Ignored unless `legacy` is set, as browsers do in pages. */
  readonly topK?: number | undefined;
  /** From 0 to 2. Ignored unless `legacy` is set, as browsers do in pages. */
  readonly temperature?: number | undefined;
  /** Content of prompts. */
  readonly expectedInputs?: readonly LanguageModelExpected[] | undefined;
  /** Content of answers. */
  readonly expectedOutputs?: readonly LanguageModelExpected[] | undefined;
  /** Functions that the model may call while it answers. They need a model whose chat template takes tools. */
  readonly tools?: readonly LanguageModelTool[] | undefined;
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
  /** Rejects `create()`; afterwards it destroys the session. The download goes on. */
  readonly signal?: AbortSignal | undefined;
  /** Called once, before the download begins. */
  readonly monitor?: ((monitor: CreateMonitor) => unknown) | undefined;
  /** The beginning of the session. An overflow never evicts it. */
  readonly initialPrompts?: readonly LanguageModelMessage[] | undefined;
}

/** Options of an operation that can be aborted. */
export interface LanguageModelSignalOptions {
  /** Rejects the operation with its reason. */
  readonly signal?: AbortSignal | undefined;
}

/** Options of a prompt. */
export interface LanguageModelPromptOptions extends LanguageModelSignalOptions {
  /** The shape of the answer: a JSON Schema, or a RegExp that matches the whole answer. */
  readonly responseConstraint?: object | undefined;
  /** The prompt doesn't tell the model of the constraint. Goes with `responseConstraint` alone. */
  readonly omitResponseConstraintInput?: boolean | undefined;
}

/** The result of `params()`. */
export interface LanguageModelParams {
  /** The model's own; the size of its vocabulary if it samples from all tokens. */
  readonly defaultTopK: number;
  /** The most that `topK` may be. */
  readonly maxTopK: number;
  /** The model's own. */
  readonly defaultTemperature: number;
  /** The most that `temperature` may be. */
  readonly maxTemperature: number;
}

/** The model that answers, and its options. */
export interface ModelOptions {
  /**
   * A chat model. `create()` loads one of the hub, for all tabs, where another model serves. A class that connects by itself begins
   * with the folder at an address. By default the model that serves answers.
   */
  readonly model?: string | undefined;
  /**
   * The embedding model of the hub that `SemanticEmbedder.create()` loads, beside the chat model. By default
   * sentence-transformers/all-MiniLM-L6-v2.
   */
  readonly embeddingModel?: string | undefined;
  /** How `model` and `embeddingModel` are loaded. */
  readonly load?: Omit<LoadModelOptions, 'signal'> | undefined;
  /**
   * Options of every prompt, that the API has no name for. `maxNewTokens` is 1,024 by default, as an answer that may fill the
   * whole context takes the memory of it. The options that `samplingMode` sets are not allowed here.
   */
  readonly generation?:
    | Omit<GenerationOptions, 'n' | 'echo' | 'logprobs' | 'promptLogprobs' | 'temperature' | 'topK'>
    | undefined;
  /**
   * Adds the members that the specification keeps for browser extensions: `params()`, `topK` and `temperature`, and the former names
   * `inputUsage`, `inputQuota`, `measureInputUsage()` and `onquotaoverflow`. False by default.
   */
  readonly legacy?: boolean | undefined;
}

/** A client, or what `connect` takes: then the class connects when it is first asked. */
export type PromptApiOptions = ModelOptions &
  (
    | {
        /** A connected client. */
        readonly serve: TabserveClient;
      }
    | Omit<ConnectOptions, 'model' | 'dtype'>
  );
