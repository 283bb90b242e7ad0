import type { AnswerPart } from '../../../protocol/answers.ts';
import type { ArgumentsReader } from './arguments-reader.ts';
import { overlap } from './overlap.ts';
import { toolSyntaxOf, type ToolSyntax } from './tool-syntax.ts';

export const THINK_BEGIN = '<think>';
export const THINK_END = '</think>';

/** How an answer is written. */
export interface AnswerSyntax {
  /** Whether the model thinks first: never, as it likes, or the prompt has begun its thinking. */
  readonly thinking: 'never' | 'optional' | 'begun';
  /** Undefined where it calls no tools. */
  readonly tools: ToolSyntax | undefined;
}

/**
 * How the model of a chat template answers a rendered chat. Undefined for text alone.
 *
 * @param template The template itself.
 * @param mayCall Whether the chat has tools.
 * @param continued The message that the answer continues, if any.
 */
export function answerSyntaxOf(
  template: string,
  rendered: string,
  mayCall: boolean,
  continued = '',
): AnswerSyntax | undefined {
  const isThinking = continued.lastIndexOf(THINK_BEGIN) > continued.lastIndexOf(THINK_END);
  const thinking = isThinking ? 'begun' : thinkingOf(template, rendered.trimEnd());
  const tools = mayCall ? toolSyntaxOf(template) : undefined;
  return thinking === 'never' && !tools ? undefined : { thinking, tools };
}

function thinkingOf(template: string, rendered: string): AnswerSyntax['thinking'] {
  if (rendered.endsWith(THINK_BEGIN)) return 'begun';
  return rendered.endsWith(THINK_END) || !template.includes(THINK_END) ? 'never' : 'optional';
}

type State = 'beginning' | 'reasoning' | 'content' | 'name' | 'arguments' | 'end';

/** Takes an answer apart while it grows. Cutting its text anywhere gives the same reasoning, content and calls. */
export class AnswerParser {
  readonly #tools: ToolSyntax | undefined;
  readonly #idOf: (index: number) => string;
  #state: State;
  /** Text that may belong to a mark, or whose white space may come before one. */
  #held = '';
  /** The white space that comes next is between parts. */
  #skipsSpace: boolean;
  #numCalls = 0;
  #reader: ArgumentsReader | undefined;

  /** @param idOf The ID of a call, by its number from 0. */
  constructor({ thinking, tools }: AnswerSyntax, idOf: (index: number) => string) {
    this.#tools = tools;
    this.#idOf = idOf;
    this.#state = ({ never: 'content', optional: 'beginning', begun: 'reasoning' } as const)[thinking];
    this.#skipsSpace = thinking === 'begun';
  }

  /** The parts that are certain now. */
  push(text: string): readonly AnswerPart[] {
    this.#held += text;
    const parts: AnswerPart[] = [];
    while (this.#read(parts));
    return parts;
  }

  /**
   * The rest of an answer that has ended. A call that has no name yet is dropped. A call whose arguments are cut keeps their
   * beginning, as in OpenAI's API.
   *
   * @param isCut Whether the limit of tokens ended it: then the beginning of a mark was to become the mark.
   */
  end(isCut = false): readonly AnswerPart[] {
    const rest = this.#withoutBegunMark(isCut);
    this.#held = '';
    if (this.#state === 'reasoning') return textParts('reasoning', rest.trimEnd());
    const isBetweenCalls = this.#numCalls > 0 && rest.trim() === '';
    const isText = this.#state === 'beginning' || (this.#state === 'content' && !isBetweenCalls);
    return isText ? textParts('content', rest) : [];
  }

  #withoutBegunMark(isCut: boolean): string {
    const { begin = '', trigger = '' } = this.#tools ?? {};
    const marks = new Map<State, string>([
      ['beginning', THINK_BEGIN],
      ['reasoning', THINK_END],
      ['content', begin],
    ]);
    const length = overlap(this.#held, marks.get(this.#state) ?? '');
    // No text has the trigger of a call. One character may be text, even where it is the last one.
    const isMark = isCut ? length > 1 : this.#state === 'content' && length > 0 && length >= trigger.length;
    return isMark ? this.#held.slice(0, -length).trimEnd() : this.#held;
  }

  /** Reads as far as the next change of state. Returns whether there was one. */
  #read(parts: AnswerPart[]): boolean {
    if (this.#skipsSpace) this.#held = this.#held.trimStart();
    if (this.#held === '') return false;
    switch (this.#state) {
      case 'beginning':
        return this.#readBeginning();
      case 'reasoning':
        return this.#readText('reasoning', THINK_END, 'content', parts);
      case 'content':
        return this.#readText('content', this.#tools?.begin, 'name', parts);
      case 'name':
        return this.#readName(parts);
      case 'arguments':
        return this.#readArguments(parts);
      case 'end':
        return this.#readEnd();
      default:
        return this.#state satisfies never;
    }
  }

  #readBeginning(): boolean {
    const text = this.#held.trimStart();
    if (text.length < THINK_BEGIN.length && THINK_BEGIN.startsWith(text)) return false;
    if (!text.startsWith(THINK_BEGIN)) return this.#enter('content');
    this.#held = text.slice(THINK_BEGIN.length);
    return this.#enter('reasoning', true);
  }

  /** White space before a mark is between parts. */
  #readText(
    type: 'reasoning' | 'content',
    mark: string | undefined,
    next: State,
    parts: AnswerPart[],
  ): boolean {
    const held = this.#held;
    const at = mark === undefined ? -1 : held.indexOf(mark);
    const text =
      mark === undefined ? held : held.slice(0, at < 0 ? held.length - overlap(held, mark) : at).trimEnd();
    parts.push(...textParts(type, text));
    this.#skipsSpace &&= text === '';
    this.#held = held.slice(text.length);
    if (mark === undefined || at < 0) return false;
    this.#held = held.slice(at + mark.length);
    return this.#enter(next, next === 'content');
  }

  #readName(parts: AnswerPart[]): boolean {
    const { middle = '' } = this.#tools ?? {};
    const [name = ''] = /^[\w-]*/.exec(this.#held) ?? [];
    const rest = this.#held.slice(name.length);
    if (rest.length < Math.max(1, middle.length)) return false;
    const index = this.#numCalls;
    parts.push({ type: 'tool-call', index, id: this.#idOf(index), name });
    this.#numCalls += 1;
    this.#held = rest.slice(middle.length);
    this.#reader = this.#tools?.createReader();
    return this.#enter('arguments');
  }

  #readArguments(parts: AnswerPart[]): boolean {
    const { json = '', rest } = this.#reader?.push(this.#held) ?? {};
    if (json !== '') parts.push({ type: 'tool-arguments', index: this.#numCalls - 1, text: json });
    this.#held = rest ?? '';
    return rest !== undefined && this.#enter('end');
  }

  #readEnd(): boolean {
    const { end = '' } = this.#tools ?? {};
    if (this.#held.length < end.length) return false;
    this.#held = this.#held.slice(end.length);
    return this.#enter('content', true);
  }

  #enter(state: State, skipsSpace = false): true {
    this.#state = state;
    this.#skipsSpace = skipsSpace;
    return true;
  }
}

function textParts(type: 'reasoning' | 'content', text: string): readonly AnswerPart[] {
  return text === '' ? [] : [{ type, text }];
}
