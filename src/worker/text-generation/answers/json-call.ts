import type { CallHead, CallKind, HeadReader } from './call-heads.ts';
import { JsonArguments } from './json-arguments.ts';

const STRING = /"(?:[^"\\]|\\[^])*"/y;
const SPACE = /\s*/y;
const ARGUMENTS = ['arguments', 'parameters'];
/** Texts beside the name and the arguments that models write. */
const OTHERS = ['type', 'id'];

/** `{"name": "f", "arguments": {}}`, with its fields in any order. */
export const JSON_CALL: CallKind = {
  createHead: () => new JsonHead(),
  isWhole: false,
  createReader: () => new JsonArguments(),
  readTail(text) {
    const tokens = new Tokens(text);
    while (tokens.take(','))
      if (tokens.string() === undefined || !tokens.take(':') || tokens.string() === undefined) break;
    if (tokens.take('}')) return tokens.rest;
    // Another text is none of the call's.
    return tokens.isCut ? undefined : text;
  },
};

/** Where arguments stood that are read. */
const READ = '{}';

class JsonHead implements HeadReader {
  /** The text, with `READ` for arguments that come before the name. They are read once, as they may be long. */
  #text = '';
  #json = '';
  #arguments: 'none' | 'open' | 'read' = 'none';
  readonly #reader = new JsonArguments();

  push(text: string): CallHead | 'more' | 'none' {
    if (this.#arguments !== 'open') {
      this.#text += text;
      return this.#read();
    }
    const { json, rest } = this.#reader.push(text);
    this.#json += json;
    if (rest === undefined) return 'more';
    this.#arguments = 'read';
    return this.push(READ + rest);
  }

  #read(): CallHead | 'more' | 'none' {
    const tokens = new Tokens(this.#text);
    let [name, json]: (string | undefined)[] = [];
    for (let before = '{'; ; before = ',') {
      const field = tokens.take(before) ? tokens.string() : undefined;
      if (field === undefined || !tokens.take(':')) return tokens.isCut ? 'more' : 'none';
      if (ARGUMENTS.includes(field)) {
        if (!tokens.isBefore('{')) return tokens.isCut ? 'more' : 'none';
        if (name !== undefined) return { name, rest: tokens.rest };
        if (this.#arguments === 'none') return this.#openArguments(tokens.rest);
        if (json !== undefined || !tokens.take(READ)) return 'none';
        json = this.#json;
      } else {
        const value = field === 'name' || OTHERS.includes(field) ? tokens.string() : undefined;
        if (value === undefined) return tokens.isCut ? 'more' : 'none';
        if (field === 'name') name = value;
      }
      if (name !== undefined && json !== undefined) return { name, json, rest: tokens.rest };
    }
  }

  #openArguments(text: string): CallHead | 'more' | 'none' {
    this.#text = this.#text.slice(0, -text.length);
    this.#arguments = 'open';
    return this.push(text);
  }
}

/** Reads marks and strings of JSON, one after another. */
class Tokens {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  get rest(): string {
    return this.#text.slice(this.#at);
  }

  /** Whether the last one isn't there because the text ends before it does. */
  get isCut(): boolean {
    return this.#isAtEnd || (this.isBefore('"') && this.#match(STRING) === undefined);
  }

  get #isAtEnd(): boolean {
    this.#at += this.#match(SPACE)?.length ?? 0;
    return this.#at === this.#text.length;
  }

  isBefore(mark: string): boolean {
    return !this.#isAtEnd && this.#text.startsWith(mark, this.#at);
  }

  take(mark: string): boolean {
    const isThere = this.isBefore(mark);
    if (isThere) this.#at += mark.length;
    return isThere;
  }

  string(): string | undefined {
    const json = this.isBefore('"') ? this.#match(STRING) : undefined;
    if (json === undefined) return undefined;
    this.#at += json.length;
    return json.slice(1, -1);
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    return pattern.exec(this.#text)?.[0];
  }
}
