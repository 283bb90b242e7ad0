import { InvalidOptionError } from '../batching/base/errors.ts';
import {
  GENERATION_OPTIONS,
  OPTION_DEFAULTS,
  type CheckedGenerationOptions,
  type ResolvedGenerationOptions,
} from '../batching/options/generation-options.ts';
import { OPTION_CHECKS } from '../batching/options/option-checks.ts';
import { parseOptions } from '../batching/base/parse-options.ts';
import { integerIn } from '../batching/base/validate.ts';
import { tokenIdsIn } from '../batching/base/validate-compound.ts';
import { logitBiasWithin } from '../batching/options/logit-bias.ts';
import { pickSampling } from '../batching/options/sampling-options.ts';
import { isRecord } from '../platform/is-record.ts';
import { randomSeed } from '../platform/random-seed.ts';
import type { ModelInfo } from './models.ts';

/** A request's own options over the model's defaults. `ending` has the reasons to end a text before its length does. */
export type ResolvedOptions = ReturnType<typeof resolveOptions>;

/**
 * Checks the options of a request and fills in the model's defaults. Chooses a seed if there is none, and takes any other seed
 * modulo 2^32. The answer to a chat may fill the context, as in OpenAI's API.
 *
 * @throws UnknownOptionError, InvalidOptionError naming the option.
 */
export function resolveOptions(
  options: unknown,
  { generationDefaults, contextLength, vocabSize }: ModelInfo,
  isChat = false,
) {
  const checks = {
    ...OPTION_CHECKS,
    logitBias: logitBiasWithin(vocabSize),
    stopTokenIds: tokenIdsIn({ ...GENERATION_OPTIONS.stopTokenIds, to: vocabSize - 1 }),
  };
  const given = parseOptions<CheckedGenerationOptions>('options', checks, options);
  const defaults = isChat ? { ...generationDefaults, maxNewTokens: contextLength } : generationDefaults;
  const resolved = { ...OPTION_DEFAULTS, ...defaults, ...given };
  // Clients send fixed large numbers.
  const maxNewTokens = Math.min(resolved.maxNewTokens, contextLength);
  const { stop, stopTokenIds, includeStopStrInOutput, ignoreEos, minTokens, seed } = resolved;
  const { n, echo, responseFormat, chatTemplateArguments, priority, promptLogprobs } = resolved;
  const { continueFinalMessage } = resolved;
  if (isChat && echo) throw InvalidOptionError.of('echo', 'false for a chat', echo);
  if (!isChat && Object.keys(chatTemplateArguments).length > 0)
    throw InvalidOptionError.of('chatTemplateArguments', 'left out for a prompt that is not a chat', 'some');
  if (!isChat && continueFinalMessage)
    throw InvalidOptionError.of('continueFinalMessage', 'false for a prompt that is not a chat', true);
  integerIn({ to: maxNewTokens })('minTokens', minTokens);
  const { toolChoice, parallelToolCalls } = resolved;
  const tools = toolChoice === 'none' ? [] : resolved.tools;
  checkTools(isChat, resolved);
  // The shape alone decides where the text may end.
  if (responseFormat && ignoreEos)
    throw InvalidOptionError.of('ignoreEos', 'false beside responseFormat', true);
  if (responseFormat && minTokens > 0)
    throw InvalidOptionError.of('minTokens', '0 beside responseFormat', minTokens);
  return {
    maxNewTokens,
    ending: { stop: [stop].flat(), stopTokenIds, includeStopStrInOutput, ignoreEos, minTokens },
    n,
    echo,
    responseFormat,
    tools,
    toolChoice,
    parallelToolCalls,
    chatTemplateArguments,
    continueFinalMessage,
    priority,
    promptLogprobs,
    sampling: { ...pickSampling(resolved), seed: seed === 'random' ? randomSeed() : toUint32(seed) },
  };
}

type ToolOptions = Pick<ResolvedGenerationOptions, 'tools' | 'toolChoice' | 'responseFormat'>;

function checkTools(isChat: boolean, { tools, toolChoice, responseFormat }: ToolOptions): void {
  if (!isChat && tools.length > 0)
    throw InvalidOptionError.of('tools', 'left out for a prompt that is not a chat', 'some');
  if (toolChoice === 'auto' || toolChoice === 'none') return;
  const given = typeof toolChoice === 'string' ? toolChoice : toolChoice.name;
  if (responseFormat)
    throw InvalidOptionError.of(
      'toolChoice',
      'auto or none beside responseFormat, which a call would contradict',
      given,
    );
  const names = tools.map(({ name }) => name);
  if (names.length === 0) throw InvalidOptionError.of('toolChoice', 'auto or none without tools', given);
  if (typeof toolChoice === 'object' && !names.includes(given))
    throw InvalidOptionError.of('toolChoice', `the name of one of the tools: ${names.join(', ')}`, given);
}

/** The timeout among unchecked options; undefined if it is missing or invalid. */
export function timeoutMsOf(options: unknown): number | undefined {
  try {
    return isRecord(options) ? OPTION_CHECKS.timeoutMs('timeoutMs', options['timeoutMs']) : undefined;
  } catch {
    return undefined;
  }
}

/** Exact for any integer that a number can hold. */
function toUint32(value: number): number {
  return ((value % 2 ** 32) + 2 ** 32) % 2 ** 32;
}
