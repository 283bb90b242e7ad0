import {
  chatNameOf,
  OPTION_NAMES,
  optionOf,
  type GenerationOptions,
  type OptionName,
} from '../../batching/generation/options.ts';
import type { NeutralValues, OptionNames } from './generation-request.ts';

// The part of a request's body that the endpoints for chats share.

/** Values that ask for nothing. */
export const CHAT_NEUTRAL_VALUES: NeutralValues = {
  service_tier: ['auto', 'default'],
  echo: [false],
  add_generation_prompt: [true],
  continue_final_message: [false],
  // The template writes them.
  add_special_tokens: [false],
};

/** OpenAI's default. */
export const NEUTRAL_VERBOSITY = 'medium';
export const NO_REASONING = 'none';

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

/** Templates of models that reason take this variable, others ignore it. */
export function withoutReasoning(options: GenerationOptions): GenerationOptions {
  return {
    ...options,
    chatTemplateArguments: { enable_thinking: false, ...options.chatTemplateArguments },
  };
}
