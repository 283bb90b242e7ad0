import * as v from 'valibot';

import {
  chatNameOf,
  OPTION_NAMES,
  optionOf,
  type OptionName,
} from '../../../src/batching/generation/options.ts';
import { HttpError } from '../../http/http-error.ts';
import { readMessages } from './chat-messages.ts';
import {
  parseFields,
  readKnownFields,
  readOptions,
  readSharedFields,
  type GenerationRequest,
  type NeutralValues,
  type OptionNames,
} from './generation-request.ts';

const NEUTRAL_VALUES: NeutralValues = {
  response_format: [{ type: 'text' }],
  modalities: [['text']],
  tools: [[]],
  tool_choice: ['none'],
  functions: [[]],
  function_call: ['none'],
  // Without tools, none are called.
  parallel_tool_calls: [true, false],
  service_tier: ['auto', 'default'],
  echo: [false],
  add_generation_prompt: [true],
  continue_final_message: [false],
  // The template writes them.
  add_special_tokens: [false],
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

/** Options with another name than in `/v1/completions`; undefined where they don't go with a chat. */
const CHAT_NAMES: Readonly<Partial<Record<OptionName, string | undefined>>> = {
  maxNewTokens: 'max_completion_tokens',
  logprobs: 'top_logprobs',
  echo: undefined,
  promptLogprobs: undefined,
};

const NAMES: OptionNames = new Map(
  OPTION_NAMES.flatMap((name) => {
    const chatName = name in CHAT_NAMES ? CHAT_NAMES[name] : chatNameOf(optionOf(name));
    return chatName === undefined ? [] : [[name, chatName] as const];
  }),
);

/** The same, for a request that limits its answer by OpenAI's older name. */
const OLDER_NAMES: OptionNames = new Map([...NAMES, ['maxNewTokens', 'max_tokens']]);

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
    others: ['messages', ...Object.keys(OWN_FIELDS.entries)],
  });
  const own = parseFields(OWN_FIELDS, fields);
  checkLimits(own);
  checkTopLogprobs(own);
  const isOlder = own.max_tokens !== undefined && own.max_completion_tokens === undefined;
  const names = isOlder ? OLDER_NAMES : NAMES;
  const { logprobs: numLogprobs = 0, ...options } = readOptions(fields, names);
  return {
    ...readSharedFields(fields),
    prompts: [readMessages(fields['messages'])],
    options: { ...options, ...(own.logprobs && { logprobs: numLogprobs }) },
    hasPromptLogprobs: false,
    names,
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
