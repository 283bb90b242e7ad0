import { LOGIT_BIAS_LIMITS, logitBiasWithin, type LogitBias } from '../sampling/logit-bias.ts';
import { fromNames, keysOf } from '../records.ts';
import { MAX_CHOICES, MAX_LOGPROBS, MAX_SEED, TIMEOUT_RANGE } from './limits.ts';
import {
  finiteIn,
  integerIn,
  isBoolean,
  jsonRecordIn,
  stringsIn,
  tokenIdsIn,
  type JsonRecord,
  type ListBounds,
  type NumberRange,
  type StringBounds,
  type TextBounds,
  type Validate,
} from '../validate.ts';

// The one table of generation options. Types, checks, the HTTP API, the page's form, the docs' table and the Ray
// deployment's options come from it. The comment above an option is its meaning, in the editor and in the docs.

/** What each type of option may be: its value, and what bounds it. */
interface Types {
  readonly integer: { readonly value: number; readonly bounds: NumberRange };
  readonly number: { readonly value: number; readonly bounds: NumberRange };
  readonly boolean: { readonly value: boolean; readonly bounds: object };
  readonly strings: { readonly value: string | readonly string[]; readonly bounds: StringBounds };
  readonly 'token-ids': { readonly value: readonly number[]; readonly bounds: ListBounds };
  readonly 'logit-bias': { readonly value: LogitBias; readonly bounds: ListBounds & NumberRange };
  readonly 'json-record': { readonly value: JsonRecord; readonly bounds: TextBounds };
}

type OptionOf<Type extends keyof Types> = Types[Type]['bounds'] & {
  readonly type: Type;
  /** In force where neither the request nor the model says otherwise; an option without one is then off. */
  readonly default?: Types[Type]['value'] | 'random';
  /** Its name in OpenAI's API, which vLLM shares. */
  readonly openAi?: string;
  /** Its name in vLLM's API, where OpenAI's lacks it. */
  readonly vllm?: string;
  /** Its name in vLLM's chat API, for an option of chats alone. */
  readonly vllmChat?: string;
  /**
   * The model's own default counts, where the request leaves the option out: its name in `generation_config.json`, or null for
   * one that this file doesn't have.
   */
  readonly generationConfig?: string | null;
  readonly form?: FormField;
};

/** How the page's form asks for an option. Its range may be narrower than the API's. */
interface FormField extends NumberRange {
  readonly label: string;
  readonly hint: string;
}

/**
 * An entry of the table of options.
 *
 * @internal
 */
export type GenerationOption = { readonly [Type in keyof Types]: OptionOf<Type> }[keyof Types];
type OptionTable = Readonly<Record<string, GenerationOption>>;

const SAMPLING_OPTIONS = {
  /** Divides the logits: the higher, the more varied the text. 0 always takes the likeliest token. */
  temperature: {
    type: 'number',
    from: 0,
    default: 0,
    openAi: 'temperature',
    generationConfig: 'temperature',
    form: { label: 'Temperature', hint: '0 always takes the likeliest token; more is more varied.' },
  },
  /** Samples from the k likeliest tokens only. 0 = all. */
  topK: {
    type: 'integer',
    from: 0,
    default: 0,
    vllm: 'top_k',
    generationConfig: 'top_k',
    form: { label: 'Top-k', hint: 'Draws from the k likeliest tokens; 0 = all.' },
  },
  /** Samples from the smallest set of likeliest tokens whose probabilities add up to p. 1 = all. */
  topP: {
    type: 'number',
    above: 0,
    to: 1,
    default: 1,
    openAi: 'top_p',
    generationConfig: 'top_p',
    form: { label: 'Top-p', hint: 'Draws from the likeliest tokens that reach this share; 1 = all.' },
  },
  /** Drops tokens less likely than this fraction of the likeliest one. 0 = off. */
  minP: {
    type: 'number',
    from: 0,
    to: 1,
    default: 0,
    vllm: 'min_p',
    generationConfig: 'min_p',
    form: { label: 'Min-p', hint: 'Drops tokens less likely than this fraction of the likeliest; 0 = off.' },
  },
  /** Divides positive logits, and multiplies negative ones, of tokens that the prompt or the output has. 1 = off. */
  repetitionPenalty: {
    type: 'number',
    from: 0.01,
    to: 100,
    default: 1,
    vllm: 'repetition_penalty',
    generationConfig: 'repetition_penalty',
    form: {
      label: 'Repetition penalty',
      hint: 'Above 1, penalizes tokens that the text has already; 1 = off.',
    },
  },
  /** Subtracted from the logit of each token that the output has. 0 = off. */
  presencePenalty: {
    type: 'number',
    from: -2,
    to: 2,
    default: 0,
    openAi: 'presence_penalty',
    generationConfig: null,
    form: { label: 'Presence penalty', hint: 'Penalizes tokens that have been generated; -2 to 2, 0 = off.' },
  },
  /** Subtracted from a token's logit once for each time the output has it. 0 = off. */
  frequencyPenalty: {
    type: 'number',
    from: -2,
    to: 2,
    default: 0,
    openAi: 'frequency_penalty',
    generationConfig: null,
    form: {
      label: 'Frequency penalty',
      hint: 'Penalizes a token each time it has been generated; -2 to 2, 0 = off.',
    },
  },
  /** Added to the logits of single tokens, by token id. -100 bans a token. */
  logitBias: {
    type: 'logit-bias',
    ...LOGIT_BIAS_LIMITS,
    default: {},
    openAi: 'logit_bias',
    form: { label: 'Logit bias', hint: 'Makes tokens more or less likely, by id: -100 bans, 100 forces.' },
  },
  /** The same seed, prompt and options give the same text. The last 32 bits count. Left out, each request gets its own. */
  seed: {
    type: 'integer',
    default: 'random',
    openAi: 'seed',
    form: {
      label: 'Seed',
      hint: 'Same seed, prompt and options: same text.',
      from: 0,
      to: MAX_SEED,
    },
  },
  /** Reports the log probability of each output token, and of this many of the likeliest tokens in its place. */
  logprobs: {
    type: 'integer',
    from: 0,
    to: MAX_LOGPROBS,
    openAi: 'logprobs',
    form: {
      label: 'Logprobs',
      hint: 'Shows how likely each token was, beside this many alternatives; up to 20.',
    },
  },
} as const satisfies OptionTable;

/** In the order of the page's form and of the docs. */
export const GENERATION_OPTIONS = {
  /** The most tokens to generate. 0 computes the prompt alone. By default, the answer to a chat may fill the context. */
  maxNewTokens: {
    type: 'integer',
    from: 0,
    default: 64,
    openAi: 'max_tokens',
    generationConfig: 'max_new_tokens',
    form: { label: 'Max new tokens', hint: 'The longest continuation; it may end earlier.', from: 1 },
  },
  ...SAMPLING_OPTIONS,
  /**
   * Reports the log probability of each prompt token, and of this many of the likeliest tokens in its place. The whole prompt is
   * then computed, even where the K/V cache holds a part of it.
   */
  promptLogprobs: { type: 'integer', from: 0, to: MAX_LOGPROBS, vllm: 'prompt_logprobs' },
  /** The text ends before the first of these strings, wherever token borders are. */
  stop: {
    type: 'strings',
    maxItems: 16,
    maxLength: 256,
    default: [],
    openAi: 'stop',
    generationConfig: 'stop_strings',
    form: { label: 'Stop', hint: 'Ends before this text; \\n = line break.' },
  },
  /** Tokens that end the text, besides the model's end token. The text ends before them. */
  stopTokenIds: { type: 'token-ids', maxItems: 300, default: [], vllm: 'stop_token_ids' },
  /** Keeps the stop string or stop token that ends the text. */
  includeStopStrInOutput: { type: 'boolean', default: false, vllm: 'include_stop_str_in_output' },
  /** Goes on after the model's end token, which is then a token like any other, without a text. */
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
    form: { label: 'Continuations', hint: 'Different ones of the same prompt, side by side.' },
  },
  /**
   * The stream of each continuation begins with the prompt, as a chunk without tokens. The result's `text` does in any case. Not
   * for chats.
   */
  echo: {
    type: 'boolean',
    default: false,
    openAi: 'echo',
    form: {
      label: 'Echo',
      hint: 'The stream that code reads begins with the prompt; the page shows it in any case.',
    },
  },
  /** Variables of the model's chat template, such as `{ enable_thinking: false }`. For chats alone. */
  chatTemplateArguments: {
    type: 'json-record',
    maxLength: 4096,
    default: {},
    vllmChat: 'chat_template_kwargs',
  },
  /**
   * Waiting requests with a lower number start first, whichever tab they are from; equal ones take turns. Running requests are not
   * interrupted, and a high number may wait for ever.
   */
  priority: {
    type: 'integer',
    from: -100,
    to: 100,
    default: 0,
    vllm: 'priority',
    form: { label: 'Priority', hint: 'Waiting requests with a lower number start first; -100 to 100.' },
  },
  /** Fails the request with RequestTimeoutError if it has not ended this many ms after its submission. */
  timeoutMs: {
    type: 'number',
    ...TIMEOUT_RANGE,
    form: { label: 'Timeout', hint: 'Give up after this many milliseconds.' },
  },
} as const satisfies OptionTable;

type Table = typeof GENERATION_OPTIONS;
/**
 * The name of an option of the text generator.
 *
 * @useDeclaredType
 */
export type OptionName = keyof Table;
type SamplingOptionName = keyof typeof SAMPLING_OPTIONS;

type ValueOf<Option extends GenerationOption> = Types[Option['type']]['value'];

/**
 * Per-request options; what is left out comes from the model's `generation_config.json`, else from Tabserve's own defaults.
 *
 * @interface
 */
export type GenerationOptions = { readonly [Name in keyof Table]?: ValueOf<Table[Name]> };

/** The value of each option that is in force; undefined where the option is off. */
export type ResolvedGenerationOptions = {
  readonly [Name in keyof Table]:
    | ValueOf<Table[Name]>
    | (Table[Name] extends { readonly default: unknown } ? never : undefined);
};

type ModelOptionName = {
  [Name in keyof Table]: Table[Name] extends { readonly generationConfig: unknown } ? Name : never;
}[keyof Table];

/** The type of each option that a model may have a default of. */
export type ModelOptionTypes = { readonly [Name in ModelOptionName]: Table[Name]['type'] };

/** How the next token is chosen. Here the seed is an unsigned 32-bit integer. */
export type SamplingParams = Pick<ResolvedGenerationOptions, SamplingOptionName>;

/** All options of the text generator, in the order of the docs. */
export const OPTION_NAMES = /* @__PURE__ */ keysOf(GENERATION_OPTIONS);
/** Options that a model may have a default of. */
export const MODEL_OPTION_NAMES = /* @__PURE__ */ OPTION_NAMES.filter(
  (name): name is ModelOptionName => optionOf(name).generationConfig !== undefined,
);
const SAMPLING_OPTION_NAMES = /* @__PURE__ */ keysOf(SAMPLING_OPTIONS);

/** What each option may be, as far as it does not depend on the model. */
export const OPTION_CHECKS = /* @__PURE__ */ fromNames<{
  readonly [Name in keyof Table]: Validate<ValueOf<Table[Name]>>;
}>(OPTION_NAMES, (name) => checkOf(optionOf(name)));

export const OPTION_DEFAULTS = /* @__PURE__ */ fromNames<{
  readonly [Name in keyof Table]: Table[Name] extends { readonly default: infer Value } ? Value : undefined;
}>(OPTION_NAMES, (name) => optionOf(name).default);

/** @internal */
export function optionOf(name: OptionName): GenerationOption {
  return GENERATION_OPTIONS[name];
}

/** Its name in `POST /v1/completions`. */
export function httpNameOf({ openAi, vllm }: GenerationOption): string | undefined {
  return openAi ?? vllm;
}

/** Its name in `POST /v1/chat/completions`. */
export function chatNameOf(option: GenerationOption): string | undefined {
  return httpNameOf(option) ?? option.vllmChat;
}

/** @internal */
export function checkOf(option: GenerationOption): Validate<unknown> {
  switch (option.type) {
    case 'integer':
      return integerIn(option);
    case 'number':
      return finiteIn(option);
    case 'boolean':
      return isBoolean;
    case 'strings':
      return stringsIn(option);
    case 'token-ids':
      return tokenIdsIn(option);
    case 'logit-bias':
      return logitBiasWithin(Infinity);
    case 'json-record':
      return jsonRecordIn(option);
    default:
      throw new Error(`No check for ${JSON.stringify(option satisfies never)}`);
  }
}

/** The sampling options out of a record of all options. */
export function pickSampling<Values extends Readonly<Record<SamplingOptionName, unknown>>>(
  values: Values,
): Pick<Values, SamplingOptionName> {
  return fromNames(SAMPLING_OPTION_NAMES, (name) => values[name]);
}
