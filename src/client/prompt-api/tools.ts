import type { ChatMessage, GenerationTool, ToolCall } from '../index.ts';
import { toDictionary, toSequence, toText } from './web-idl.ts';

/** A tool of a session: what the model is told of it, and how it is run. */
export interface SessionTool extends GenerationTool {
  readonly execute: (input: unknown) => unknown;
}

/** A model that only calls tools would never answer. */
const MAX_ROUNDS = 16;

/** @throws TypeError. */
export function readTools(value: unknown): readonly SessionTool[] {
  if (value === undefined) return [];
  return toSequence('tools', value).map((tool, index) => {
    const { name, description, inputSchema, execute } = toDictionary(`tools[${index}]`, tool);
    if (name === undefined || description === undefined)
      throw new TypeError(`\`tools[${index}]\` needs a name and a description.`);
    if (!isFunction(execute)) throw new TypeError(`\`tools[${index}].execute\` has to be a function.`);
    const parameters = toDictionary(`tools[${index}].inputSchema`, inputSchema);
    return { name: toText(name), description: toText(description), parameters: { ...parameters }, execute };
  });
}

/**
 * Runs the calls of an answer side by side, and resolves with the messages that answer them. Rejects as the tools do.
 *
 * @param round Number of this round within its prompt, from 0.
 * @throws DOMException named OperationError in the last round.
 */
export async function answerCalls(
  tools: readonly SessionTool[],
  calls: readonly ToolCall[],
  round: number,
): Promise<readonly ChatMessage[]> {
  if (round >= MAX_ROUNDS)
    throw new DOMException(
      `The model called tools ${MAX_ROUNDS} times in a row: tell it in the prompt when to answer.`,
      'OperationError',
    );
  return Promise.all(
    calls.map(async ({ id, name, arguments: json }) => {
      const output = await tools.find((tool) => tool.name === name)?.execute(JSON.parse(json));
      const content = typeof output === 'string' ? output : (JSON.stringify(output) ?? '');
      return { role: 'tool', content, toolCallId: id } as const;
    }),
  );
}

function isFunction(value: unknown): value is SessionTool['execute'] {
  return typeof value === 'function';
}
