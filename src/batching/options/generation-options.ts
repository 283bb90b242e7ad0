import type { GenerationOption, GivenOf, OptionTable, Resolved, ValueOf } from './option-table.ts';
import { fromNames, keysOf } from '../base/records.ts';
import { MAX_LOGPROBS, SAMPLING_OPTIONS } from './sampling-options.ts';
import { MAX_CHOICES, TIMEOUT_RANGE } from './limits.ts';

// The one table of generation options. Types, the checks (option-checks.ts), the HTTP API, the page's form, the docs' table and the Ray
// deployment's options come from it. The comment above an option is its meaning, in the editor and in the docs.

/** In the order of the page's form and of the docs. */
export const GENERATION_OPTIONS = {
  /**
   * The most tokens to generate; a number beyond the model's context counts as the context. 0 computes the prompt alone. By default,
   * the answer to a chat may fill the context.
   */
  maxNewTokens: {
    type: 'integer',
    from: 0,
    default: 64,
    openAi: 'max_tokens',
    generationConfig: 'max_new_tokens',
    form: { label: 'Max new tokens', from: 1 },
  },
  ...SAMPLING_OPTIONS,
  /**
   * Reports the log probability of each prompt token, and of this many of the likeliest tokens in its place. `true` is 0. The
   * whole prompt is then computed, even where the K/V cache holds a part of it.
   */
  promptLogprobs: { type: 'integer-or-boolean', from: 0, to: MAX_LOGPROBS, vllm: 'prompt_logprobs' },
  /** Stops before the first of these strings, even inside a token. */
  stop: {
    type: 'strings',
    maxItems: 16,
    maxLength: 256,
    default: [],
    openAi: 'stop',
    generationConfig: 'stop_strings',
    form: { label: 'Stop' },
  },
  /** Tokens that end the text, besides the model's end token. The text ends before them. */
  stopTokenIds: { type: 'token-ids', maxItems: 300, default: [], vllm: 'stop_token_ids' },
  /** Keeps the stop string or stop token that ends the text. */
  includeStopStrInOutput: { type: 'boolean', default: false, vllm: 'include_stop_str_in_output' },
  /** Keeps generating past the model's end token, which then counts as a token but adds no text. */
  ignoreEos: { type: 'boolean', default: false, vllm: 'ignore_eos' },
  /** Tokens to generate before an end token, a stop token or a stop string may end the text. At most `maxNewTokens`. */
  minTokens: { type: 'integer', from: 0, default: 0, vllm: 'min_tokens' },
  /** Continuations of the prompt: the first has `seed`, the others have seeds derived from it. */
  n: {
    type: 'integer',
    from: 1,
    to: MAX_CHOICES,
    default: 1,
    openAi: 'n',
    generationConfig: 'num_return_sequences',
    form: { label: 'Continuations' },
  },
  /**
   * The stream of each continuation begins with the prompt, as a chunk without tokens. The result's `text` always does. Not
   * for chats.
   */
  echo: {
    type: 'boolean',
    default: false,
    openAi: 'echo',
  },
  /**
   * Functions that the model may call. The chat template writes them into the prompt, and every call fits its tool's schema. For
   * chats with a model whose template takes tools.
   */
  tools: { type: 'tools', maxItems: 128, maxLength: 16_384, default: [] },
  /** `auto`: text or calls, as the model likes. `required`: calls alone. `{ name }`: one call of that tool. `none`: no calls. */
  toolChoice: { type: 'tool-choice', default: 'auto' },
  /** False allows one call in an answer. */
  parallelToolCalls: { type: 'boolean', default: true },
  /** Variables of the model's chat template, such as `{ enable_thinking: false }`. For chats alone. */
  chatTemplateArguments: {
    type: 'json-record',
    maxLength: 4096,
    default: {},
    vllmChat: 'chat_template_kwargs',
  },
  /**
   * The answer continues the last message of the chat, which the template leaves open. The result has the continuation alone. For
   * chats alone.
   */
  continueFinalMessage: { type: 'boolean', default: false, vllmChat: 'continue_final_message' },
  /**
   * Waiting requests with a lower number start first, whichever tab they are from; equal ones take turns. Running requests are not
   * interrupted, and a request with a high number can starve.
   */
  priority: {
    type: 'integer',
    from: -100,
    to: 100,
    default: 0,
    vllm: 'priority',
    form: { label: 'Priority' },
  },
  /** Fails the request with RequestTimeoutError if it has not ended this many ms after its submission. */
  timeoutMs: {
    type: 'number',
    ...TIMEOUT_RANGE,
    form: { label: 'Timeout' },
  },
  /**
   * The shape of every answer: `json_schema`, `json_object`, `choice`, `regex`, `grammar` or `structural_tag`. The text ends where
   * nothing may follow. A shape that can't be enforced is refused with `RESPONSE_FORMAT_UNSUPPORTED`.
   */
  responseFormat: {
    type: 'response-format',
    maxLength: 65_536,
    form: { label: 'Answer' },
  },
} as const satisfies OptionTable;

/** Declarations lose the comments of what is spread, so both tables are named. */
export type OptionsByName = typeof GENERATION_OPTIONS & typeof SAMPLING_OPTIONS;
/**
 * The name of an option of the text generator.
 *
 * @useDeclaredType
 */
export type OptionName = keyof OptionsByName;

/**
 * Per-request options; what is left out comes from the model's `generation_config.json`, else from Tabserve's own defaults.
 *
 * @interface
 */
export type GenerationOptions = {
  readonly [Name in keyof OptionsByName]?: GivenOf<OptionsByName[Name]> | undefined;
};

/** Options that have been checked. */
export type CheckedGenerationOptions = {
  readonly [Name in keyof OptionsByName]?: ValueOf<OptionsByName[Name]> | undefined;
};

/** The value of each option that is in force; undefined where the option is off. */
export type ResolvedGenerationOptions = Resolved<OptionsByName>;

type ModelOptionName = {
  [Name in keyof OptionsByName]: OptionsByName[Name] extends { readonly generationConfig: unknown }
    ? Name
    : never;
}[keyof OptionsByName];

/** The type of each option that a model may have a default of. */
export type ModelOptionTypes = { readonly [Name in ModelOptionName]: OptionsByName[Name]['type'] };

/** All options of the text generator, in the order of the docs. */
export const OPTION_NAMES = /* @__PURE__ */ keysOf(GENERATION_OPTIONS);
/** Options that a model may have a default of. */
export const MODEL_OPTION_NAMES = /* @__PURE__ */ OPTION_NAMES.filter(
  (name): name is ModelOptionName => optionOf(name).generationConfig !== undefined,
);

export const OPTION_DEFAULTS = /* @__PURE__ */ fromNames<{
  readonly [Name in keyof OptionsByName]: OptionsByName[Name] extends { readonly default: infer Value }
    ? Value
    : undefined;
}>(OPTION_NAMES, (name) => optionOf(name).default);

/** @internal */
export function optionOf(name: OptionName): GenerationOption {
  return GENERATION_OPTIONS[name];
}

/**
 * Its name in `POST /v1/completions`.
 *
 * @internal
 */
export function httpNameOf({ openAi, vllm }: GenerationOption): string | undefined {
  return openAi ?? vllm;
}

/** Its name in `POST /v1/chat/completions`. */
export function chatNameOf(option: GenerationOption): string | undefined {
  return httpNameOf(option) ?? option.vllmChat;
}
