import * as v from 'valibot';

import {
  httpNameOf,
  OPTION_NAMES,
  optionOf,
  type GenerationOptions,
} from '../../src/batching/generation/options.ts';
import { HttpError } from '../http/http-error.ts';
import { readFields, withoutNulls } from '../http/read-body.ts';

export type Prompt = string | readonly number[];

/** A request to `POST /v1/completions`. */
export type CompletionRequest = ReturnType<typeof readCompletionRequest>;

/** With `n` continuations of each, this bounds the cost of one request. */
const MAX_PROMPTS = 64;

/** OpenAI's default. */
const DEFAULT_MAX_TOKENS = 16;

/** Fields of OpenAI and vLLM that are accepted only with these values, which change nothing. */
const NEUTRAL_VALUES: Readonly<Record<string, readonly (string | number | boolean | readonly string[])[]>> = {
  suffix: [''],
  skip_special_tokens: [true],
  // The text has no special tokens to put a space between.
  spaces_between_special_tokens: [true, false],
  add_special_tokens: [true],
  use_beam_search: [false],
  length_penalty: [1],
  bad_words: [[]],
  return_token_ids: [false],
  return_tokens_as_token_ids: [false],
};

/** Fields that the bridge reads itself. `store` and `metadata` don't change the answer. */
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

/** The worker checks the values of generation options. @throws HttpError 400 */
export function readCompletionRequest(body: unknown) {
  const given = readFields(withoutNulls(readFields(body)), FIELDS);
  const own = parseOwnFields(given);
  checkNeutral(given);
  checkBestOf(own);
  const isStream = own.stream === true;
  const usage = readStreamOptions(own.stream_options, isStream);
  const hasPromptLogprobs = given['prompt_logprobs'] !== undefined;
  if (isStream && hasPromptLogprobs)
    throw HttpError.invalid(
      'prompt_logprobs',
      '`prompt_logprobs` does not go with `stream: true`: ask for `echo` and `logprobs` instead.',
    );
  return {
    model: own.model,
    prompts: readPrompts(given['prompt']),
    numChoicesPerPrompt: own.n ?? 1,
    options: readOptions(given),
    /** Whether the answer has a `prompt_logprobs` field of its own. */
    hasPromptLogprobs,
    isStream,
    /** Users of one key take turns. */
    user: own.user,
    usage,
  };
}

/** The worker's error with the option named as in this API. */
export function inOpenAiNames(error: unknown): unknown {
  if (!(error instanceof Error && 'code' in error)) return error;
  if (error.code === 'PROMPT_TOO_LONG')
    return HttpError.invalid('prompt', error.message, 'context_length_exceeded');
  // The name may have an index, as in `logitBias[262]`.
  const [start, ours] = (error.code === 'INVALID_OPTION' && /^Expected `(\w+)/.exec(error.message)) || [];
  const theirs = HTTP_NAMES.find(([name]) => name === ours)?.[1];
  if (start === undefined || theirs === undefined) return error;
  return HttpError.invalid(theirs, `Expected \`${theirs}${error.message.slice(start.length)}`);
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

function readStreamOptions(options: Readonly<Record<string, unknown>> | undefined, isStream: boolean) {
  if (!options) return { isIncluded: false, isContinuous: false };
  if (!isStream)
    throw HttpError.invalid('stream_options', '`stream_options` goes with `stream: true` alone.');
  readFields(options, STREAM_OPTIONS);
  const [isIncluded = false, isContinuous = false] = STREAM_OPTIONS.map((name) => {
    const value = options[name] ?? false;
    if (typeof value === 'boolean') return value;
    throw HttpError.invalid('stream_options', `Expected \`stream_options.${name}\` to be true or false.`);
  });
  return {
    /** The stream ends with a chunk that has the usage. */
    isIncluded,
    /** Each chunk has the usage of its choice so far: vLLM's option. */
    isContinuous: isIncluded && isContinuous,
  };
}

/** `include_obfuscation` pads chunks to hide their sizes from eavesdroppers, of which there are none on this machine. */
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
  const named: GenerationOptions = Object.fromEntries(
    HTTP_NAMES.map(([ours, theirs]) => [ours, given[theirs]]).filter(([, value]) => value !== undefined),
  );
  const { topK, echo, logprobs, promptLogprobs } = named;
  return {
    maxNewTokens: DEFAULT_MAX_TOKENS,
    ...named,
    // vLLM also takes -1 for all.
    ...(topK === -1 && { topK: 0 }),
    // An echo with logprobs has the prompt's logprobs too.
    ...(echo && logprobs !== undefined && { promptLogprobs: promptLogprobs ?? logprobs }),
  };
}

function readPrompts(prompt: unknown): readonly Prompt[] {
  if (isPrompt(prompt)) return [prompt];
  if (Array.isArray(prompt) && prompt.length > 0 && prompt.length <= MAX_PROMPTS && prompt.every(isPrompt)) {
    return prompt;
  }
  const expected = `a text, a list of token ids, or a list of 1 to ${MAX_PROMPTS} of either`;
  throw HttpError.invalid('prompt', `Expected \`prompt\` to be ${expected}.`);
}

/** The worker checks token ids. An empty list counts as a list without prompts. */
function isPrompt(value: unknown): value is Prompt {
  return (
    typeof value === 'string' ||
    (Array.isArray(value) && value.length > 0 && value.every((tokenId) => typeof tokenId === 'number'))
  );
}
