import type { ChatMessage } from '../index.ts';
import { readConstraint, type Constraint } from './constraint.ts';
import { notSupported } from './dom-errors.ts';
import {
  MESSAGE_ROLES,
  MESSAGE_TYPES,
  type LanguageModelMessageContent,
  type LanguageModelMessageRole,
} from './types.ts';
import { isIterable, toDictionary, toEnum, toSequence, toSignal, toText } from './web-idl.ts';

interface Message {
  readonly role: LanguageModelMessageRole;
  readonly content: readonly LanguageModelMessageContent[];
  readonly prefix: boolean;
}

/** The caller's messages with every property read: later changes of the caller's objects have no effect. */
export type Input = readonly Message[];

/** A prompt that is checked. */
export interface Prompt {
  readonly messages: readonly ChatMessage[];
  /** The beginning of the answer; undefined where the model begins it. */
  readonly prefix: string | undefined;
}

/** Takes a text or messages, as the interface's conversions do: a value that isn't a list is a text. @throws TypeError. */
export function readInput(input: unknown): Input {
  if (!isIterable(input)) return [userMessage(toText(input))];
  const messages = readMessages('input', input);
  return messages.length > 0 ? messages : [userMessage('')];
}

/** @throws TypeError. */
export function readMessages(place: string, value: unknown): Input {
  return toSequence(place, value).map((message, index) => readMessage(`${place}[${index}]`, message));
}

/**
 * @param hasBegun Whether messages came before: a system message may begin a session alone.
 * @throws TypeError, or a DOMException named SyntaxError or NotSupportedError.
 */
export function checkPrompt(input: Input, hasBegun: boolean): Prompt {
  const messages = input.map((message, index): ChatMessage & { readonly content: string } => {
    const { role, content, prefix } = message;
    if (prefix && (role !== 'assistant' || index < input.length - 1))
      throw new DOMException(
        'Only the last message may have `prefix`, and only with the role `assistant`.',
        'SyntaxError',
      );
    if (role === 'system' && (hasBegun || index > 0))
      throw new TypeError(
        'A system message has to be the first of the session: pass it in `initialPrompts`.',
      );
    return { role, content: content.map((part) => textOf(part, role)).join('') };
  });
  const last = messages.at(-1);
  if (last && input.at(-1)?.prefix) return { messages: messages.slice(0, -1), prefix: last.content };
  return { messages, prefix: undefined };
}

/** The options of a prompt. */
export interface PromptOptions {
  readonly signal: AbortSignal | undefined;
  readonly constraint: Constraint | undefined;
}

/** @throws TypeError, or a DOMException named NotSupportedError for a constraint that isn't supported. */
export function readPromptOptions(options: unknown): PromptOptions {
  const { signal, responseConstraint, omitResponseConstraintInput } = toDictionary('options', options);
  if (responseConstraint === undefined && omitResponseConstraintInput)
    throw new TypeError('`omitResponseConstraintInput` needs a `responseConstraint`.');
  const constraint =
    responseConstraint === undefined
      ? undefined
      : readConstraint(responseConstraint, Boolean(omitResponseConstraintInput));
  return { signal: toSignal(signal), constraint };
}

/** The input with the constraint's note, at the end of its last message of the user. */
export function withNote(input: Input, note: string | undefined): Input {
  const at = input.findLastIndex(({ role }) => role === 'user');
  const message = input[at];
  if (note === undefined || !message) return input;
  const content = [...message.content, { type: 'text', value: `\n\n${note}` } as const];
  return input.with(at, { ...message, content });
}

function userMessage(value: string): Message {
  return { role: 'user', content: [{ type: 'text', value }], prefix: false };
}

function readMessage(place: string, value: unknown): Message {
  const { content, prefix, role } = toDictionary(place, value);
  if (content === undefined) throw new TypeError(`\`${place}.content\` is missing.`);
  return {
    content: isIterable(content)
      ? [...content].map((part, index) => readContent(`${place}.content[${index}]`, part))
      : [{ type: 'text', value: toText(content) }],
    prefix: Boolean(prefix),
    role: toEnum(`${place}.role`, role, MESSAGE_ROLES),
  };
}

function readContent(place: string, part: unknown): LanguageModelMessageContent {
  const { type, value } = toDictionary(place, part);
  if (value === undefined) throw new TypeError(`\`${place}.value\` is missing.`);
  return {
    type: toEnum(`${place}.type`, type, MESSAGE_TYPES),
    value: typeof value === 'object' && value !== null ? value : toText(value),
  };
}

function textOf({ type, value }: LanguageModelMessageContent, role: string): string {
  if (type !== 'text')
    throw notSupported(`A message of the role \`${role}\` has ${type}: only text is supported.`);
  if (typeof value === 'string') return value;
  throw new TypeError('The value of a content of type `text` has to be a string.');
}
