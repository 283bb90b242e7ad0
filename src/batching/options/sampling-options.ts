import type { OptionTable, Resolved } from './option-table.ts';
import { fromNames, keysOf } from '../base/records.ts';
import { LOGIT_BIAS_LIMITS } from './limits.ts';

/** The most alternatives reported with each token. */
export const MAX_LOGPROBS = 20;

const MAX_SEED = 2 ** 32 - 1;

/** The part of the table of generation options that decides how the next token is chosen. */
export const SAMPLING_OPTIONS = {
  /** Divides the logits: the higher, the more varied the text. 0 always takes the likeliest token. */
  temperature: {
    type: 'number',
    from: 0,
    default: 0,
    openAi: 'temperature',
    generationConfig: 'temperature',
    form: { label: 'Temperature', to: 2 },
  },
  /** Samples from the k likeliest tokens only. 0 = all. */
  topK: {
    type: 'integer',
    from: 0,
    default: 0,
    vllm: 'top_k',
    generationConfig: 'top_k',
    form: { label: 'Top-k' },
  },
  /** Samples from the smallest set of likeliest tokens whose probabilities add up to p. 1 = all. */
  topP: {
    type: 'number',
    above: 0,
    to: 1,
    default: 1,
    openAi: 'top_p',
    generationConfig: 'top_p',
    form: { label: 'Top-p' },
  },
  /** Drops tokens less likely than this fraction of the likeliest one. 0 = off. */
  minP: {
    type: 'number',
    from: 0,
    to: 1,
    default: 0,
    vllm: 'min_p',
    generationConfig: 'min_p',
    form: { label: 'Min-p' },
  },
  /** Divides positive logits, and multiplies negative ones, of tokens that the prompt or the output has. 1 = off. */
  repetitionPenalty: {
    type: 'number',
    from: 0.01,
    to: 100,
    default: 1,
    vllm: 'repetition_penalty',
    generationConfig: 'repetition_penalty',
    form: { label: 'Repetition penalty' },
  },
  /** Subtracted from the logit of each token that the output has. 0 = off. */
  presencePenalty: {
    type: 'number',
    from: -2,
    to: 2,
    default: 0,
    openAi: 'presence_penalty',
    generationConfig: null,
    form: { label: 'Presence penalty' },
  },
  /** Subtracted from a token's logit once for each time the output has it. 0 = off. */
  frequencyPenalty: {
    type: 'number',
    from: -2,
    to: 2,
    default: 0,
    openAi: 'frequency_penalty',
    generationConfig: null,
    form: { label: 'Frequency penalty' },
  },
  /** Added to the logits of single tokens, by token id. -100 bans a token. */
  logitBias: {
    type: 'logit-bias',
    ...LOGIT_BIAS_LIMITS,
    default: {},
    openAi: 'logit_bias',
    form: { label: 'Logit bias' },
  },
  /** The same seed, prompt and options give the same text. The last 32 bits count. Left out, each request gets its own. */
  seed: {
    type: 'integer',
    default: 'random',
    openAi: 'seed',
    form: { label: 'Seed', from: 0, to: MAX_SEED },
  },
  /** Reports the log probability of each output token, and of this many of the likeliest tokens in its place. `true` is 0. */
  logprobs: {
    type: 'integer-or-boolean',
    from: 0,
    to: MAX_LOGPROBS,
    openAi: 'logprobs',
    form: { label: 'Logprobs' },
  },
} as const satisfies OptionTable;

type SamplingOptionName = keyof typeof SAMPLING_OPTIONS;

/** How the next token is chosen. Here the seed is an unsigned 32-bit integer. */
export type SamplingParams = Resolved<typeof SAMPLING_OPTIONS>;

const SAMPLING_OPTION_NAMES = /* @__PURE__ */ keysOf(SAMPLING_OPTIONS);

/** The sampling options out of a record of all options. */
export function pickSampling<Values extends Readonly<Record<SamplingOptionName, unknown>>>(
  values: Values,
): Pick<Values, SamplingOptionName> {
  return fromNames(SAMPLING_OPTION_NAMES, (name) => values[name]);
}
