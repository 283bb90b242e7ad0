import type { JSONObject, LanguageModelV4Content, LanguageModelV4GenerateResult } from '@ai-sdk/provider';

import type { GenerationResult, PromptTokenLogprobs, TokenLogprobs } from '../index.ts';
import { PROVIDER } from './read-settings.ts';

type End = Pick<LanguageModelV4GenerateResult, 'finishReason' | 'usage'>;

const UNKNOWN_INPUT = { total: undefined, noCache: undefined, cacheRead: undefined };

/** The end of an answer, in the AI SDK's terms. */
export function endOf(
  result: GenerationResult,
): End & Pick<LanguageModelV4GenerateResult, 'providerMetadata'> {
  const { finishReason, usage, answer } = result;
  const hasCalls = answer !== undefined && answer.toolCalls.length > 0;
  const { numPromptTokens, numCachedTokens, numOutputTokens } = usage;
  return {
    finishReason: {
      unified: finishReason === 'stop' && hasCalls ? 'tool-calls' : finishReason,
      raw: finishReason,
    },
    usage: {
      inputTokens: {
        // A prompt has tokens: a server that reports 0 has not counted them.
        ...(numPromptTokens > 0
          ? { total: numPromptTokens, noCache: numPromptTokens - numCachedTokens, cacheRead: numCachedTokens }
          : UNKNOWN_INPUT),
        cacheWrite: undefined,
      },
      outputTokens: { total: numOutputTokens, text: numOutputTokens, reasoning: undefined },
      raw: { ...usage },
    },
    providerMetadata: { [PROVIDER]: metadataOf(result) },
  };
}

/** The answer of a call: its reasoning, its text and its calls of tools. */
export function contentOf({
  answer,
  generatedText,
}: Pick<GenerationResult, 'answer' | 'generatedText'>): LanguageModelV4Content[] {
  const { reasoning, content, toolCalls } = answer ?? {
    reasoning: '',
    content: generatedText,
    toolCalls: [],
  };
  return [
    ...(reasoning === '' ? [] : [{ type: 'reasoning', text: reasoning } as const]),
    ...(content === '' && toolCalls.length > 0 ? [] : [{ type: 'text', text: content } as const]),
    ...toolCalls.map(({ id, name, arguments: input }) => {
      return { type: 'tool-call', toolCallId: id, toolName: name, input } as const;
    }),
  ];
}

/** The end of a stream that has failed. */
export function failedEndOf(code: string | undefined): End {
  return {
    finishReason: { unified: 'error', raw: code },
    usage: {
      inputTokens: { ...UNKNOWN_INPUT, cacheWrite: undefined },
      outputTokens: { total: undefined, text: undefined, reasoning: undefined },
    },
  };
}

function metadataOf({ seed, timings, logprobs, promptLogprobs }: GenerationResult): JSONObject {
  return {
    seed,
    timings: { ...timings },
    ...(logprobs && { logprobs: logprobs.map(toJson) }),
    ...(promptLogprobs && { promptLogprobs: promptLogprobs.map(toJson) }),
  };
}

function toJson({ top, ...token }: TokenLogprobs | PromptTokenLogprobs): JSONObject {
  return { ...token, top: top.map((alternative) => ({ ...alternative })) };
}
