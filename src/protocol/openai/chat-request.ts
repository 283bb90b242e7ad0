import * as v from 'valibot';

import { HttpError } from './http-error.ts';
import { readMessages } from './chat-messages.ts';
import {
  CHAT_NEUTRAL_VALUES,
  chatNamesWith,
  checkContinuation,
  checkTemplateArguments,
  EFFORTS,
  NESTED_TOOL_NAMES,
  oneEffort,
  readTools,
  TOOL_FIELDS,
  TOOL_NAMES,
  VERBOSITIES,
  withEffort,
} from './chat-options.ts';
import {
  parseFields,
  readKnownFields,
  readNeutralObject,
  readOptions,
  readSharedFields,
  type GenerationRequest,
  type NeutralValues,
} from './generation-request.ts';
import { FORMAT_FIELDS, readAskedFormat } from './response-format.ts';

const NEUTRAL_VALUES: NeutralValues = {
  ...CHAT_NEUTRAL_VALUES,
  modalities: [['text']],
  functions: [[]],
  function_call: ['none', 'auto'],
  reasoning_effort: EFFORTS,
  verbosity: VERBOSITIES,
};

/** `prompt_cache_key` and `safety_identifier` don't change the answer. */
const OWN_FIELDS = v.object({
  logprobs: v.optional(v.boolean('true or false')),
  top_logprobs: v.optional(v.unknown()),
  max_completion_tokens: v.optional(v.unknown()),
  max_tokens: v.optional(v.unknown()),
  prompt_cache_key: v.optional(v.string('a text')),
  safety_identifier: v.optional(v.string('a text')),
});

const NAMES = chatNamesWith('max_completion_tokens');

const REASONING: NeutralValues = { effort: EFFORTS, enabled: [true, false], exclude: [false] };
const THINKING: NeutralValues = { type: ['enabled', 'disabled'] };

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
    others: [
      'messages',
      'add_generation_prompt',
      'reasoning',
      'thinking',
      ...FORMAT_FIELDS,
      ...TOOL_FIELDS,
      ...Object.keys(OWN_FIELDS.entries),
    ],
  });
  const own = parseFields(OWN_FIELDS, fields);
  checkTopLogprobs(own);
  checkContinuation(fields);
  checkTemplateArguments(fields);
  // With both, the newer name counts, as in vLLM.
  const isOlder = own.max_tokens !== undefined && own.max_completion_tokens === undefined;
  const names = isOlder ? OLDER_NAMES : NAMES;
  const { logprobs: numLogprobs = 0, ...others } = readOptions(fields, names);
  const { names: formatNames, format } = readAskedFormat(fields);
  const options = {
    ...others,
    ...(own.logprobs && { logprobs: numLogprobs }),
    ...(format && { responseFormat: format }),
    ...readTools(fields, false),
  };
  return {
    ...readSharedFields(fields),
    prompts: [readMessages(fields['messages'])],
    options: withEffort(options, readEffort(fields)),
    hasPromptLogprobs: false,
    ...(fields['service_tier'] !== undefined && { serviceTier: 'default' }),
    names: new Map([...names, ...TOOL_NAMES, ...NESTED_TOOL_NAMES, ...formatNames]),
  };
}

type Own = v.InferOutput<typeof OWN_FIELDS>;

/** OpenAI's field, or those of other APIs: `reasoning.effort` of OpenRouter, `thinking.type` of DeepSeek and GLM. */
function readEffort(fields: Readonly<Record<string, unknown>>): unknown {
  const reasoning = readNeutralObject(fields, 'reasoning', REASONING);
  const thinking = readNeutralObject(fields, 'thinking', THINKING);
  const { enabled } = reasoning;
  const { type } = thinking;
  return oneEffort([
    ['reasoning_effort', fields['reasoning_effort']],
    ['reasoning.effort', reasoning['effort']],
    ['reasoning.enabled', enabled === undefined ? undefined : enabled || 'none'],
    ['thinking.type', type === undefined ? undefined : type === 'enabled' || 'none'],
  ]);
}

/** `top_logprobs: 0` is allowed with or without `logprobs`. */
function checkTopLogprobs({ logprobs, top_logprobs: top = 0 }: Own): void {
  if (logprobs || top === 0) return;
  throw HttpError.invalid('top_logprobs', '`top_logprobs` goes with `logprobs: true` alone.');
}
