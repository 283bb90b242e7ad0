import * as v from 'valibot';

import { HttpError } from './http-error.ts';
import { readMessages } from './chat-messages.ts';
import {
  CHAT_NEUTRAL_VALUES,
  chatNamesWith,
  NEUTRAL_VERBOSITY,
  NO_REASONING,
  withoutReasoning,
} from './chat-options.ts';
import {
  parseFields,
  readKnownFields,
  readOptions,
  readSharedFields,
  type GenerationRequest,
  type NeutralValues,
} from './generation-request.ts';
import { FORMAT_FIELDS, readAskedFormat } from './response-format.ts';
import { readTools, TOOL_FIELDS, TOOL_NAMES } from './tools.ts';

const NEUTRAL_VALUES: NeutralValues = {
  ...CHAT_NEUTRAL_VALUES,
  modalities: [['text']],
  functions: [[]],
  function_call: ['none', 'auto'],
  reasoning_effort: [NO_REASONING],
  verbosity: [NEUTRAL_VERBOSITY],
};

/** `prompt_cache_key` and `safety_identifier` don't change the answer. */
const OWN_FIELDS = v.object({
  logprobs: v.optional(v.boolean()),
  top_logprobs: v.optional(v.unknown()),
  max_tokens: v.optional(v.unknown()),
  max_completion_tokens: v.optional(v.unknown()),
  prompt_cache_key: v.optional(v.string()),
  safety_identifier: v.optional(v.string()),
});

const NAMES = chatNamesWith('max_completion_tokens');

/** OpenAI's older name of the limit. */
const OLDER_NAMES = chatNamesWith('max_tokens');

/**
 * A request to `POST /v1/chat/completions`. Without a limit the answer may fill the context. The worker checks the values of
 * generation options.
 *
 * @throws HttpError 400
 */
export function readChatRequest(body: unknown): GenerationRequest {
  const fields = readKnownFields(body, {
    names: NAMES,
    neutral: NEUTRAL_VALUES,
    others: ['messages', ...FORMAT_FIELDS, ...TOOL_FIELDS, ...Object.keys(OWN_FIELDS.entries)],
  });
  const own = parseFields(OWN_FIELDS, fields);
  checkLimits(own);
  checkTopLogprobs(own);
  const isOlder = own.max_tokens !== undefined && own.max_completion_tokens === undefined;
  const names = isOlder ? OLDER_NAMES : NAMES;
  const { logprobs: numLogprobs = 0, ...others } = readOptions(fields, names);
  const { name: formatName, format } = readAskedFormat(fields);
  const options = {
    ...others,
    ...(own.logprobs && { logprobs: numLogprobs }),
    ...(format && { responseFormat: format }),
    ...readTools(fields, false),
  };
  return {
    ...readSharedFields(fields),
    prompts: [readMessages(fields['messages'])],
    options: fields['reasoning_effort'] === undefined ? options : withoutReasoning(options),
    hasPromptLogprobs: false,
    names: new Map([...names, ...TOOL_NAMES, ['responseFormat', formatName]]),
  };
}

type Own = v.InferOutput<typeof OWN_FIELDS>;

function checkLimits({ max_tokens: older, max_completion_tokens: newer }: Own): void {
  if (older === undefined || newer === undefined || older === newer) return;
  const message = '`max_tokens` and `max_completion_tokens` are two names of one limit: pass one of them.';
  throw HttpError.invalid('max_tokens', message);
}

/** `top_logprobs: 0` is allowed with or without `logprobs`. */
function checkTopLogprobs({ logprobs, top_logprobs: top = 0 }: Own): void {
  if (logprobs || top === 0) return;
  throw HttpError.invalid('top_logprobs', '`top_logprobs` goes with `logprobs: true` alone.');
}
