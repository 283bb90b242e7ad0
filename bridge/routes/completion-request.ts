import * as v from 'valibot';

import type { GenerationOptions } from '../../src/worker/protocol.ts';
import { isRecord } from '../../src/worker/is-record.ts';
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
  /** The stream ends with a chunk that says what was used. */
  readonly includesUsage: boolean;
}

/** With `n` continuations of each, this bounds what one request may cost. */
const MAX_PROMPTS = 64;

/** OpenAI's; it is short, so that whoever wants more says so. */
const DEFAULT_MAX_TOKENS = 16;

/** OpenAI's name of each option, and vLLM's where OpenAI has none, with ours. */
const OPTION_NAMES = {
  max_tokens: 'maxNewTokens',
  temperature: 'temperature',
  top_p: 'topP',
  top_k: 'topK',
  min_p: 'minP',
  repetition_penalty: 'repetitionPenalty',
  presence_penalty: 'presencePenalty',
  frequency_penalty: 'frequencyPenalty',
  logit_bias: 'logitBias',
  logprobs: 'logprobs',
  prompt_logprobs: 'promptLogprobs',
  n: 'n',
  stop: 'stop',
  seed: 'seed',
  echo: 'echo',
  priority: 'priority',
} as const satisfies Readonly<Record<string, keyof GenerationOptions>>;

/** What the bridge looks at itself. */
const OWN_FIELDS = v.object({
  model: v.optional(v.string()),
  stream: v.optional(v.boolean()),
  stream_options: v.optional(v.record(v.string(), v.unknown())),
  user: v.optional(v.string()),
  n: v.optional(v.number()),
  echo: v.optional(v.boolean()),
});

const FIELDS = [...Object.keys(OPTION_NAMES), 'prompt', 'model', 'stream', 'stream_options', 'user'];

/** @throws HttpError 400; the values of the generator's options are the worker's to check. */
export function readCompletionRequest(body: unknown): CompletionRequest {
  // OpenAI's clients write null for what is left out.
  const given = readFields(withoutNulls(body), FIELDS);
  const own = parseOwnFields(given);
  const includesUsage = readStreamOptions(own.stream_options, own.stream === true);
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
    includesUsage,
  };
}

/** An error of the worker, with the names that the client knows. */
export function inOpenAiNames(error: unknown): unknown {
  if (!(error instanceof Error && 'code' in error)) return error;
  // `logitBias[262]` is told of a single token.
  const [start, ours] = (error.code === 'INVALID_OPTION' && /^Expected `(\w+)/.exec(error.message)) || [];
  const theirs = Object.entries(OPTION_NAMES).find(([, name]) => name === ours)?.[0];
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
): boolean {
  if (!options) return false;
  if (!isStream)
    throw HttpError.invalid('stream_options', '`stream_options` goes with `stream: true` alone.');
  const { include_usage: includeUsage = false } = readFields(options, ['include_usage']);
  if (typeof includeUsage === 'boolean') return includeUsage;
  throw HttpError.invalid('stream_options', 'Expected `stream_options.include_usage` to be true or false.');
}

function readOptions(given: Readonly<Record<string, unknown>>): GenerationOptions {
  return Object.fromEntries(
    Object.entries(OPTION_NAMES).flatMap(([theirs, ours]) =>
      given[theirs] === undefined ? [] : [[ours, given[theirs]]],
    ),
  );
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
