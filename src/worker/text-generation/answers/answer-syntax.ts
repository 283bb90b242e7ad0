import type { ChatTemplate } from '../../models/tokenizer/chat-template.ts';
import { toolSyntaxOf, type ToolSyntax } from './tool-syntax.ts';

/** The marks around a model's thoughts. */
interface ThinkingMarks {
  readonly begin: string;
  readonly end: string;
  /** Text between the thoughts and the answer. */
  readonly after: string;
}

/** Most models leave an empty line before they answer. */
const THINK: ThinkingMarks = { begin: '<think>', end: '</think>', after: '\n\n' };
const MISTRAL_THINK: ThinkingMarks = { begin: '[THINK]', end: '[/THINK]', after: '' };

/** How an answer is written. */
export interface AnswerSyntax {
  /** Whether the model thinks first: never, as it likes, or the prompt has begun its thinking. */
  readonly thinking: 'never' | 'optional' | 'begun';
  /** `<think>` and `</think>` if left out. */
  readonly marks?: ThinkingMarks;
  /** Undefined where it calls no tools. */
  readonly tools: ToolSyntax | undefined;
}

/** A chat that a template has written. */
interface WrittenPrompt {
  /** The template itself. */
  readonly template: string;
  readonly rendered: string;
  /** The message that the answer continues, if any. */
  readonly continued?: string | undefined;
  /** Whether the chat has tools. */
  readonly mayCall: boolean;
  /** Whether the tokenizer has a text as one token. */
  readonly isToken: (text: string) => boolean;
}

/** How the model of a chat template answers a chat. Undefined for text alone. */
export function answerSyntaxOf(prompt: WrittenPrompt): AnswerSyntax | undefined {
  const { template, mayCall, isToken } = prompt;
  const marks = template.includes(MISTRAL_THINK.end) ? MISTRAL_THINK : THINK;
  const thinking = thinkingOf(prompt, marks);
  const tools = mayCall ? toolSyntaxOf(template, isToken) : undefined;
  return thinking === 'never' && !tools ? undefined : { thinking, marks, tools };
}

/** Whether a model may think before it answers. */
export function canThink({ sourceFor }: Pick<ChatTemplate, 'sourceFor'>): boolean {
  try {
    const template = sourceFor(false);
    return [THINK, MISTRAL_THINK].some(({ end }) => template.includes(end));
  } catch {
    // One that no Jinja could read is an error of each chat.
    return false;
  }
}

export function marksOf(syntax: AnswerSyntax | undefined): ThinkingMarks {
  return syntax?.marks ?? THINK;
}

/** Tokens that are part of the answer's text, also where the tokenizer calls them special. */
export function tokensOf(syntax: AnswerSyntax | undefined): readonly string[] {
  if (!syntax) return [];
  const { begin, end } = marksOf(syntax);
  return [...(syntax.thinking === 'never' ? [] : [begin, end]), ...(syntax.tools?.tokens ?? [])];
}

function thinkingOf(
  { template, rendered, continued = '' }: WrittenPrompt,
  { begin, end }: ThinkingMarks,
): AnswerSyntax['thinking'] {
  if (continued.lastIndexOf(begin) > continued.lastIndexOf(end)) return 'begun';
  const written = rendered.trimEnd();
  if (written.endsWith(begin)) return 'begun';
  return written.endsWith(end) || !template.includes(end) ? 'never' : 'optional';
}
