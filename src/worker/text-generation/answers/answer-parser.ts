import type { GenerationTool } from '../../../batching/options/tools.ts';
import type { AnswerPart } from '../../../protocol/answers.ts';
import { marksOf, type AnswerSyntax } from './answer-syntax.ts';
import { CallsReader } from './calls-reader.ts';
import { overlap } from './overlap.ts';
import type { ToolSyntax } from './tool-syntax.ts';

type TextType = 'reasoning' | 'content';
type State = 'beginning' | TextType | 'calls';

export interface AnswerParserOptions {
  readonly syntax: AnswerSyntax;
  /** Tools that may be called. */
  readonly tools: readonly GenerationTool[];
  /** The ID of a call, by its number from 0. */
  readonly idOf: (index: number) => string;
}

/** A mark in a text. */
interface Found {
  readonly mark: string;
  readonly at: number;
}

/** Takes an answer apart while it grows. Cutting its text anywhere gives the same reasoning, content and calls. */
export class AnswerParser {
  readonly #syntax: ToolSyntax | undefined;
  readonly #marks: ReturnType<typeof marksOf>;
  readonly #options: AnswerParserOptions;
  #state: State;
  /** Text that may belong to a mark, or whose white space may come before one. */
  #held = '';
  /** The white space that comes next is between parts. */
  #skipsSpace: boolean;
  #numCalls = 0;
  #reader: CallsReader | undefined;
  /** Text that may turn out to be no call: from the opening on, with the white space before it. */
  #opened = { type: 'content' as TextType, space: '', mark: '', text: '' };

  constructor(options: AnswerParserOptions) {
    const { thinking, tools } = options.syntax;
    this.#options = options;
    this.#syntax = tools;
    this.#marks = marksOf(options.syntax);
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
    if (this.#state === 'calls') return this.#endCalls(isCut);
    const rest = isCut ? this.#withoutBegunMark() : this.#held;
    this.#held = '';
    if (this.#state === 'reasoning') return textParts('reasoning', rest.trimEnd());
    const isBetweenCalls = this.#numCalls > 0 && rest.trim() === '';
    return isBetweenCalls ? [] : textParts('content', rest);
  }

  #endCalls(isCut: boolean): readonly AnswerPart[] {
    const { type, space, text } = this.#opened;
    const { begunCall = [], begunText = '', hasCalls: isKnown = false } = this.#reader ?? {};
    if (isCut && begunCall.length > 0) return this.#partsOf(begunCall);
    if (!isCut && begunText !== '') return textParts(type, isKnown ? begunText : `${space}${text}`);
    // No text has the trigger of a call. One character may be text, even where it is the last one.
    const isTriggered = this.#syntax?.written.begins.some(({ trigger }) => text.startsWith(trigger)) ?? false;
    return isKnown || isTriggered || (isCut && text.length > 1) ? [] : textParts(type, `${space}${text}`);
  }

  #withoutBegunMark(): string {
    const length = Math.max(...this.#marksOf(this.#state).map((mark) => overlap(this.#held, mark)), 0);
    return length > 1 ? this.#held.slice(0, -length).trimEnd() : this.#held;
  }

  /** The marks that end the text of a state. */
  #marksOf(state: State): readonly string[] {
    const { opening, bareBegin = opening, endsThinking = false } = this.#syntax ?? {};
    const openings = [opening, bareBegin].filter((mark) => mark !== undefined);
    if (state === 'beginning') return [this.#marks.begin];
    if (state === 'content') return openings;
    return [this.#marks.end, ...(endsThinking ? openings.slice(0, 1) : [])];
  }

  /** Reads as far as the next change of state. Returns whether there was one. */
  #read(parts: AnswerPart[]): boolean {
    if (this.#skipsSpace) this.#held = this.#held.trimStart();
    if (this.#held === '') return false;
    switch (this.#state) {
      case 'beginning':
        return this.#readBeginning();
      case 'reasoning':
      case 'content':
        return this.#readText(this.#state, parts);
      case 'calls':
        return this.#readCalls(parts);
    }
  }

  #readBeginning(): boolean {
    const { begin } = this.#marks;
    const text = this.#held.trimStart();
    if (text.length < begin.length && begin.startsWith(text)) return false;
    if (!text.startsWith(begin)) return this.#enter('content', this.#held);
    return this.#enter('reasoning', text.slice(begin.length), true);
  }

  /** White space before a mark is between parts. */
  #readText(type: TextType, parts: AnswerPart[]): boolean {
    const held = this.#held;
    const marks = this.#marksOf(type);
    const found = firstOf(held, marks);
    const end = found?.at ?? held.length - Math.max(...marks.map((mark) => overlap(held, mark)), 0);
    const text = marks.length === 0 ? held : held.slice(0, end).trimEnd();
    parts.push(...textParts(type, text));
    this.#skipsSpace &&= text === '';
    this.#held = held.slice(text.length);
    if (!found) return false;
    const { at, mark } = found;
    if (mark === this.#marks.end && type === 'reasoning')
      return this.#enter('content', held.slice(at + mark.length), true);
    if (this.#syntax) this.#reader = new CallsReader(this.#syntax, this.#options.tools);
    this.#opened = { type, space: held.slice(text.length, at), mark, text: '' };
    return this.#enter('calls', held.slice(at));
  }

  #readCalls(parts: AnswerPart[]): boolean {
    const text = this.#held;
    this.#held = '';
    const { parts: read = [], rest } = this.#reader?.push(text) ?? {};
    parts.push(...this.#partsOf(read));
    if (this.#reader?.hasCalls === true) return rest !== undefined && this.#enter('content', rest, true);
    this.#opened.text += text;
    if (rest === undefined) return false;
    // It was no call.
    const { type, space, mark, text: opened } = this.#opened;
    parts.push(...textParts(type, `${space}${mark}`));
    return this.#enter(type, opened.slice(mark.length));
  }

  #partsOf(read: CallsReader['begunCall']): readonly AnswerPart[] {
    return read.map((part) => {
      if (part.type === 'arguments')
        return { type: 'tool-arguments', index: this.#numCalls - 1, text: part.json };
      const index = this.#numCalls;
      this.#numCalls += 1;
      return { type: 'tool-call', index, id: this.#options.idOf(index), name: part.name };
    });
  }

  #enter(state: State, held: string, skipsSpace = false): true {
    this.#state = state;
    this.#held = held;
    this.#skipsSpace = skipsSpace;
    return true;
  }
}

/** The first mark of a text: of those that begin there, the first. */
function firstOf(text: string, marks: readonly string[]): Found | undefined {
  const found = marks.map((mark) => ({ mark, at: text.indexOf(mark) })).filter(({ at }) => at >= 0);
  return found.toSorted((a, b) => a.at - b.at)[0];
}

function textParts(type: TextType, text: string): readonly AnswerPart[] {
  return text === '' ? [] : [{ type, text }];
}
