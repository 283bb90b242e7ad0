import {
  chatNameOf,
  OPTION_NAMES,
  optionOf,
  type GenerationOptions,
  type OptionName,
} from '../../batching/options/generation-options.ts';
import { isRecord } from '../../platform/is-record.ts';
import { HttpError } from './http-error.ts';
import type { NeutralValues, OptionNames } from './generation-request.ts';

// The part of a request's body that the endpoints for chats share.

/** There is one tier here: an answer says `default`. */
const SERVICE_TIERS = ['auto', 'default', 'flex', 'priority', 'scale'];

/** Values that ask for nothing. */
export const CHAT_NEUTRAL_VALUES: NeutralValues = {
  service_tier: SERVICE_TIERS,
  echo: [false],
  // The template writes them.
  add_special_tokens: [false],
};

/** No model here is trained for them. */
export const VERBOSITIES = ['low', 'medium', 'high'];
export const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'];

/** Options with another name than in `/v1/completions`; undefined where they don't go with a chat. */
const CHAT_NAMES: Readonly<Partial<Record<OptionName, string | undefined>>> = {
  logprobs: 'top_logprobs',
  echo: undefined,
  promptLogprobs: undefined,
};

/** @param limit The endpoint's name of `maxNewTokens`. */
export function chatNamesWith(limit: string): OptionNames {
  const own = { ...CHAT_NAMES, maxNewTokens: limit };
  return new Map(
    OPTION_NAMES.flatMap((name) => {
      const chatName = name in own ? own[name] : chatNameOf(optionOf(name));
      return chatName === undefined ? [] : [[name, chatName] as const];
    }),
  );
}

/**
 * The effort as the variables that templates of models that reason take. Others ignore them. Some think unless they are told not to,
 * others only where they are told to.
 *
 * @param effort One of `EFFORTS`, or true for any but none; undefined where neither is asked for.
 */
export function withEffort(options: GenerationOptions, effort: unknown): GenerationOptions {
  if (effort === undefined) return options;
  const variables = {
    enable_thinking: effort !== 'none',
    ...(effort !== 'none' && effort !== true && { reasoning_effort: effort }),
  };
  return { ...options, chatTemplateArguments: { ...variables, ...options.chatTemplateArguments } };
}

/** A field of a body, and its effort as in `withEffort`. */
export type AskedEffort = readonly [field: string, effort: unknown];

/** The one effort that the fields of a body ask for. @throws HttpError 400 for two that contradict each other. */
export function oneEffort(asked: readonly AskedEffort[]): unknown {
  const given = asked.filter(([, effort]) => effort !== undefined);
  const [first] = given.toSorted(([, a], [, b]) => Number(a === true) - Number(b === true));
  const other = given.find(([, effort]) => (effort === true ? first?.[1] === 'none' : effort !== first?.[1]));
  if (!first || !other) return first?.[1];
  const message = `\`${first[0]}\` and \`${other[0]}\` contradict each other: pass one of them.`;
  throw HttpError.invalid(other[0], message);
}

/**
 * The options of a chat whose last message the answer continues, as vLLM asks for it.
 *
 * @throws HttpError 400
 */
export function checkContinuation(fields: Readonly<Record<string, unknown>>): void {
  const { add_generation_prompt: begins = true, continue_final_message: continues = false } = fields;
  if (typeof begins !== 'boolean') throw HttpError.expected('add_generation_prompt', 'true or false');
  if (fields['add_generation_prompt'] === true && continues === true)
    throw HttpError.invalid(
      'add_generation_prompt',
      '`add_generation_prompt: true` begins a message, and `continue_final_message: true` continues the last one: pass false with it.',
    );
  if (!begins && continues !== true)
    throw HttpError.invalid(
      'add_generation_prompt',
      '`add_generation_prompt: false` goes with `continue_final_message: true` alone: leave it out, or pass both.',
    );
}

/** Variables of a template that the request has fields for. */
const OWN_VARIABLES = ['messages', 'add_generation_prompt', 'tools'];

/** @throws HttpError 400 for a variable that the template would get another value of. */
export function checkTemplateArguments({
  chat_template_kwargs: given,
}: Readonly<Record<string, unknown>>): void {
  const own = OWN_VARIABLES.find((name) => isRecord(given) && Object.hasOwn(given, name));
  if (own === undefined) return;
  const param = `chat_template_kwargs.${own}`;
  throw HttpError.invalid(
    param,
    `\`${param}\` can't be set: the template gets it from the request's other fields.`,
  );
}
