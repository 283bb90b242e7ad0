import type { AnswerPart, GenerationChoice } from '../../../src/client/index.ts';
import type { GenerationResult } from '../../../src/protocol/generation.ts';
import type { ToolCall } from '../../../src/protocol/answers.ts';
import { chatToolCall } from '../../../src/protocol/openai/chat-options.ts';
import type { ChunkText, TextFormat } from './choice-stream.ts';
import { wholeArguments } from './whole-arguments.ts';
import { chatLogprobs } from '../../../src/protocol/openai/logprobs.ts';

export interface AnswerParts {
  readonly parts: readonly AnswerPart[];
}

/** Text in the parts of an answer, for an API that writes them itself. */
export const ANSWER_PARTS: TextFormat<AnswerParts> = {
  piecesOf: (chunk) => {
    const parts = partsOf(chunk);
    return parts.length > 0 ? [{ parts }] : [];
  },
  empty: { parts: [] },
  logprobsOf: (tokens) => chatLogprobs(tokens).content,
};

/** The pieces of a chunk of a chat's answer. */
export function partsOf({ text, parts }: ChunkText): readonly AnswerPart[] {
  return parts ?? (text === '' ? [] : [{ type: 'content', text }]);
}

/** The answer to a chat, taken apart. */
export function answerOf({
  answer,
  generatedText,
}: GenerationChoice): NonNullable<GenerationChoice['answer']> {
  return answer ?? { reasoning: '', content: generatedText, toolCalls: [] };
}

/** The message of an answer. As in vLLM, `reasoning_content` has what the model thought. */
export function chatMessageOf(choice: GenerationChoice): object {
  const { reasoning, content, toolCalls } = answerOf(choice);
  const hasCalls = toolCalls.length > 0;
  return {
    role: 'assistant',
    content: hasCalls && content === '' ? null : content,
    refusal: null,
    ...(reasoning !== '' && { reasoning_content: reasoning }),
    ...(hasCalls && { tool_calls: toolCalls.map(chatToolCall) }),
  };
}

/** A piece of an answer in a stream. */
export function deltaOf(part: AnswerPart): object {
  switch (part.type) {
    case 'content':
      return { content: part.text };
    case 'reasoning':
      return { reasoning_content: part.text };
    case 'tool-call': {
      const { index, id, name } = part;
      return { tool_calls: [{ index, ...chatToolCall({ id, name, arguments: '' }) }] };
    }
    case 'tool-arguments':
      return { tool_calls: [{ index: part.index, function: { arguments: part.text } }] };
    default:
      return part satisfies never;
  }
}

/** Whether a limit or a stop string cut an answer. */
export function isCut({ finishReason, stopString }: GenerationChoice): boolean {
  return finishReason === 'length' || stopString !== undefined;
}

/** The calls of an answer, without one that was cut. */
export function wholeCallsOf(result: GenerationChoice): readonly ToolCall[] {
  const { toolCalls } = answerOf(result);
  const isEndCut = isCut(result);
  return toolCalls.filter(
    ({ arguments: json }, index) =>
      wholeArguments(json, isEndCut && index === toolCalls.length - 1) !== undefined,
  );
}

/** Whether calls end an answer: the last one was not cut. */
export function endsWithCalls(result: GenerationChoice): boolean {
  const { toolCalls } = answerOf(result);
  return toolCalls.length > 0 && wholeCallsOf(result).length === toolCalls.length;
}

/** The parts of a whole answer, each in one piece. */
export function wholePartsOf(result: GenerationResult): readonly AnswerPart[] {
  const { reasoning, content, toolCalls } = answerOf(result);
  return [
    ...(reasoning === '' ? [] : [{ type: 'reasoning', text: reasoning } as const]),
    ...(content === '' && toolCalls.length > 0 ? [] : [{ type: 'content', text: content } as const]),
    ...toolCalls.flatMap(({ id, name, arguments: text }, index) => [
      { type: 'tool-call', index, id, name } as const,
      { type: 'tool-arguments', index, text } as const,
    ]),
  ];
}

export function resultIn([result]: readonly GenerationResult[]): GenerationResult {
  if (!result) throw new Error('One prompt has one result.');
  return result;
}
