import * as v from 'valibot';
import { count, type Wire } from './wire.ts';

export const toolCall = v.strictObject({
  /** Names the call in the tool's answer. */
  id: v.string(),
  /** The tool's name. */
  name: v.string(),
  /** Its arguments as the model wrote them: a JSON object, unless the answer was cut short. */
  arguments: v.string(),
});
/**
 * A call of a tool.
 *
 * @interface
 */
export type ToolCall = Wire<typeof toolCall>;

export const answerPart = v.variant('type', [
  /** A piece of what the model thinks before it answers. */
  v.object({
    type: v.literal('reasoning'),
    /** Not empty. */
    text: v.string(),
  }),
  /** A piece of the text that is for the user. */
  v.object({
    type: v.literal('content'),
    /** Not empty. */
    text: v.string(),
  }),
  /** A call of a tool begins. */
  v.object({
    type: v.literal('tool-call'),
    /** Number of the call in its answer, from 0. */
    index: count,
    /** Names the call in the tool's answer. */
    id: v.string(),
    /** The tool's name. */
    name: v.string(),
  }),
  /** A piece of a call's arguments, in JSON. */
  v.object({
    type: v.literal('tool-arguments'),
    /** Number of the call in its answer, from 0. */
    index: count,
    /** Not empty. */
    text: v.string(),
  }),
]);
/**
 * A piece of the answer to a chat.
 *
 * @useDeclaredType
 */
export type AnswerPart = Wire<typeof answerPart>;

export const answer = v.object({
  /** The model's thoughts before its answer; empty if it had none. */
  reasoning: v.string(),
  /** The text that is for the user. */
  content: v.string(),
  /** In the order of the text. */
  toolCalls: v.array(toolCall),
});
/**
 * The answer to a chat, taken apart.
 *
 * @interface
 */
export type Answer = Wire<typeof answer>;

/** The answer that consists of these parts. */
export function joinParts(parts: Iterable<AnswerPart>): Answer {
  let [reasoning, content] = ['', ''];
  const toolCalls: ToolCall[] = [];
  for (const part of parts) {
    if (part.type === 'reasoning') reasoning += part.text;
    else if (part.type === 'content') content += part.text;
    else if (part.type === 'tool-call') toolCalls.push({ id: part.id, name: part.name, arguments: '' });
    else {
      const call = toolCalls[part.index];
      if (call) toolCalls[part.index] = { ...call, arguments: call.arguments + part.text };
    }
  }
  return { reasoning, content, toolCalls };
}
