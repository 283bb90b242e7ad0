import * as v from 'valibot';

import { httpNameOf, OPTION_NAMES, optionOf } from '../../batching/options/generation-options.ts';
import { HttpError } from './http-error.ts';
import {
  parseFields,
  readKnownFields,
  readOptions,
  readSharedFields,
  type GenerationRequest,
  type NeutralValues,
  type OptionNames,
} from './generation-request.ts';
import { FORMAT_FIELDS, readAskedFormat } from './response-format.ts';

type TextPrompt = string | readonly number[];

/** With `n` continuations of each, this bounds the cost of one request. */
const MAX_PROMPTS = 64;

/** OpenAI's default. */
const DEFAULT_MAX_TOKENS = 16;

const NEUTRAL_VALUES: NeutralValues = { suffix: [''], add_special_tokens: [true] };

const OWN_FIELDS = v.object({ best_of: v.optional(v.number('a number')) });

const NAMES: OptionNames = new Map(
  OPTION_NAMES.flatMap((name) => {
    const httpName = httpNameOf(optionOf(name));
    return httpName === undefined ? [] : [[name, httpName] as const];
  }),
);

/** A request to `POST /v1/completions`. The worker checks the values of generation options. @throws HttpError 400 */
export function readCompletionRequest(body: unknown): GenerationRequest {
  const fields = readKnownFields(body, {
    names: NAMES,
    neutral: NEUTRAL_VALUES,
    others: ['prompt', ...FORMAT_FIELDS, ...Object.keys(OWN_FIELDS.entries)],
  });
  const shared = readSharedFields(fields);
  checkBestOf(parseFields(OWN_FIELDS, fields).best_of, shared.numChoicesPerPrompt);
  const hasPromptLogprobs = fields['prompt_logprobs'] !== undefined;
  if (shared.isStream && hasPromptLogprobs)
    throw HttpError.invalid(
      'prompt_logprobs',
      '`prompt_logprobs` does not go with `stream: true`: ask for `echo` and `logprobs` instead.',
    );
  const options = readOptions(fields, NAMES);
  const { echo, logprobs, promptLogprobs } = options;
  const { names: formatNames, format } = readAskedFormat(fields);
  return {
    ...shared,
    prompts: readPrompts(fields['prompt']),
    options: {
      maxNewTokens: DEFAULT_MAX_TOKENS,
      ...options,
      ...(format && { responseFormat: format }),
      // An echo with logprobs has the prompt's logprobs too.
      ...(echo && logprobs !== undefined && { promptLogprobs: promptLogprobs ?? logprobs }),
    },
    hasPromptLogprobs,
    names: new Map([...NAMES, ...formatNames]),
  };
}

function checkBestOf(bestOf: number | undefined, n: number): void {
  if (bestOf === undefined || bestOf === n) return;
  const why =
    bestOf > n
      ? 'choosing the best of more continuations is not done here: ask for all of them with `n`'
      : 'it must not be below `n`';
  throw HttpError.invalid('best_of', `\`best_of\` is ${bestOf} and \`n\` is ${n}: ${why}.`);
}

function readPrompts(prompt: unknown): readonly TextPrompt[] {
  if (isPrompt(prompt)) return [prompt];
  if (Array.isArray(prompt) && prompt.length > 0 && prompt.length <= MAX_PROMPTS && prompt.every(isPrompt)) {
    return prompt;
  }
  if (!Array.isArray(prompt) || prompt.length === 0 || prompt.length > MAX_PROMPTS) {
    const expected = `a text, a list of token ids, or a list of 1 to ${MAX_PROMPTS} of either`;
    throw HttpError.expected('prompt', expected);
  }
  const isOfTokens = typeof prompt[0] === 'number';
  const bad = prompt.findIndex((entry) => (isOfTokens ? typeof entry !== 'number' : !isPrompt(entry)));
  throw HttpError.expected(`prompt[${bad}]`, isOfTokens ? 'a token id' : 'a text or a list of token ids');
}

/** The worker checks token ids. An empty list counts as a list without prompts. */
function isPrompt(value: unknown): value is TextPrompt {
  return (
    typeof value === 'string' ||
    (Array.isArray(value) && value.length > 0 && value.every((tokenId) => typeof tokenId === 'number'))
  );
}
