import * as v from 'valibot';

import {
  httpNameOf,
  OPTION_NAMES,
  optionOf,
  type GenerationOptions,
} from '../../src/batching/generation/options.ts';
import { isRecord } from '../../src/worker/platform/is-record.ts';
import { HttpError } from '../http/http-error.ts';
import { readFields } from './deployments.ts';

export type Prompt = string | readonly number[];

/** `POST /v1/completions` as it was asked. */
export interface CompletionRequest {
  readonly model: string | undefined;
  readonly prompts: readonly Prompt[];
  readonly numChoicesPerPrompt: number;
  readonly options: GenerationOptions;
  /** Whether `prompt_logprobs` was asked for, which is told apart from the text's own. */
  readonly hasPromptLogprobs: boolean;
  readonly isStream: boolean;
  /** Takes turns with the other users of its key. */
  readonly user: string | undefined;
  readonly usage: UsageInStream;
}

/** What a stream tells of its costs. */
interface UsageInStream {
  /** It ends with a chunk that says what was used. */
  readonly isIncluded: boolean;
  /** Each chunk says what its choice has used so far: vLLM's option. */
  readonly isContinuous: boolean;
}

/** With `n` continuations of each, this bounds what one request may cost. */
const MAX_PROMPTS = 64;

/** OpenAI's; it is short, so that whoever wants more says so. */
const DEFAULT_MAX_TOKENS = 16;

/** Fields that are taken with a value that asks for nothing; with any other they are refused by name. */
const NEUTRAL_VALUES: Readonly<Record<string, readonly (string | number | boolean | readonly string[])[]>> = {
  suffix: [''],
  skip_special_tokens: [true],
  // Without special tokens in the text there is nothing to put a space between.
  spaces_between_special_tokens: [true, false],
  add_special_tokens: [true],
  use_beam_search: [false],
  length_penalty: [1],
  bad_words: [[]],
  return_token_ids: [false],
  return_tokens_as_token_ids: [false],
};

/** What the bridge looks at itself. `store` and `metadata` change nothing of the answer. */
const OWN_FIELDS = v.object({
  model: v.optional(v.string()),
  stream: v.optional(v.boolean()),
  stream_options: v.optional(v.record(v.string(), v.unknown())),
  user: v.optional(v.string()),
  store: v.optional(v.boolean()),
  metadata: v.optional(v.record(v.string(), v.unknown())),
  n: v.optional(v.number()),
  best_of: v.optional(v.number()),
});

/** The generator's options by their names in this API. */
const HTTP_NAMES = OPTION_NAMES.flatMap((name) => {
  const httpName = httpNameOf(optionOf(name));
  return httpName === undefined ? [] : [[name, httpName] as const];
});

const FIELDS = [
  ...new Set([
    'prompt',
    ...HTTP_NAMES.map(([, httpName]) => httpName),
    ...Object.keys(OWN_FIELDS.entries),
    ...Object.keys(NEUTRAL_VALUES),
  ]),
];

/** @throws HttpError 400; the values of the generator's options are the worker's to check. */
export function readCompletionRequest(body: unknown): CompletionRequest {
  // OpenAI's clients write null for what is left out.
  const given = readFields(withoutNulls(body), FIELDS);
  const own = parseOwnFields(given);
  checkNeutral(given);
  checkBestOf(own);
  const usage = readStreamOptions(own.stream_options, own.stream === true);
  if (own.stream === true && given['prompt_logprobs'] !== undefined)
    throw HttpError.invalid(
      'prompt_logprobs',
      '`prompt_logprobs` does not go with `stream: true`: ask for `echo` and `logprobs` instead.',
    );
  return {
    model: own.model,
    prompts: readPrompts(given['prompt']),
    numChoicesPerPrompt: own.n ?? 1,
    options: { maxNewTokens: DEFAULT_MAX_TOKENS, ...withPromptLogprobs(readOptions(given)) },
    hasPromptLogprobs: given['prompt_logprobs'] !== undefined,
    isStream: own.stream === true,
    user: own.user,
    usage,
  };
}

/** An error of the worker, with the names that the client knows. */
export function inOpenAiNames(error: unknown): unknown {
  if (!(error instanceof Error && 'code' in error)) return error;
  if (error.code === 'PROMPT_TOO_LONG')
    return HttpError.invalid('prompt', error.message, 'context_length_exceeded');
  // `logitBias[262]` is told of a single token.
  const [start, ours] = (error.code === 'INVALID_OPTION' && /^Expected `(\w+)/.exec(error.message)) || [];
  const theirs = HTTP_NAMES.find(([name]) => name === ours)?.[1];
  if (start === undefined || theirs === undefined) return error;
  return HttpError.invalid(theirs, `Expected \`${theirs}${error.message.slice(start.length)}`);
}

function withoutNulls(body: unknown): unknown {
  if (!isRecord(body)) return body;
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null));
}

function parseOwnFields(given: object): v.InferOutput<typeof OWN_FIELDS> {
  const result = v.safeParse(OWN_FIELDS, given, { abortEarly: true });
  if (result.success) return result.output;
  const [issue] = result.issues;
  const param = v.getDotPath(issue) ?? 'body';
  const got = `got \`${issue.received}\``;
  throw HttpError.invalid(
    param,
    `Expected \`${param}\` to be ${issue.expected ?? 'of another type'}, ${got}.`,
  );
}

function readStreamOptions(
  options: Readonly<Record<string, unknown>> | undefined,
  isStream: boolean,
): UsageInStream {
  if (!options) return { isIncluded: false, isContinuous: false };
  if (!isStream)
    throw HttpError.invalid('stream_options', '`stream_options` goes with `stream: true` alone.');
  readFields(options, STREAM_OPTIONS);
  const [isIncluded = false, isContinuous = false] = STREAM_OPTIONS.map((name) => {
    const value = options[name] ?? false;
    if (typeof value === 'boolean') return value;
    throw HttpError.invalid('stream_options', `Expected \`stream_options.${name}\` to be true or false.`);
  });
  return { isIncluded, isContinuous: isIncluded && isContinuous };
}

/** The last one pads chunks so that their sizes tell nothing; nobody reads along between the page and this machine. */
const STREAM_OPTIONS = ['include_usage', 'continuous_usage_stats', 'include_obfuscation'];

function checkNeutral(given: Readonly<Record<string, unknown>>): void {
  for (const [name, accepted] of Object.entries(NEUTRAL_VALUES)) {
    const values = accepted.map((value) => JSON.stringify(value));
    if (given[name] === undefined || values.includes(JSON.stringify(given[name]))) continue;
    const expected = values.join(' or ');
    throw HttpError.invalid(name, `\`${name}\` isn't supported here: leave it out, or pass ${expected}.`);
  }
}

function checkBestOf({ best_of: bestOf, n = 1 }: v.InferOutput<typeof OWN_FIELDS>): void {
  if (bestOf === undefined || bestOf === n) return;
  const why =
    bestOf > n
      ? 'choosing the best of more continuations is not done here: ask for all of them with `n`'
      : 'it must not be below `n`';
  throw HttpError.invalid('best_of', `\`best_of\` is ${bestOf} and \`n\` is ${n}: ${why}.`);
}

function readOptions(given: Readonly<Record<string, unknown>>): GenerationOptions {
  const named = Object.fromEntries(
    HTTP_NAMES.filter(([, theirs]) => given[theirs] !== undefined).map(([ours, theirs]) => [
      ours,
      given[theirs],
    ]),
  );
  // vLLM's other way to say all.
  return named['topK'] === -1 ? { ...named, topK: 0 } : named;
}

/** An echo with logprobs has those of the prompt as well. */
function withPromptLogprobs(options: GenerationOptions): GenerationOptions {
  const { echo, logprobs, promptLogprobs } = options;
  return echo && logprobs !== undefined
    ? { ...options, promptLogprobs: promptLogprobs ?? logprobs }
    : options;
}

function readPrompts(prompt: unknown): readonly Prompt[] {
  if (isPrompt(prompt)) return [prompt];
  if (Array.isArray(prompt) && prompt.length > 0 && prompt.length <= MAX_PROMPTS && prompt.every(isPrompt)) {
    return prompt;
  }
  const expected = `a text, a list of token ids, or a list of 1 to ${MAX_PROMPTS} of either`;
  throw HttpError.invalid('prompt', `Expected \`prompt\` to be ${expected}.`);
}

/** Its tokens are the worker's to check. An empty list is no prompt, as one of no prompts. */
function isPrompt(value: unknown): value is Prompt {
  return (
    typeof value === 'string' ||
    (Array.isArray(value) && value.length > 0 && value.every((tokenId) => typeof tokenId === 'number'))
  );
}
