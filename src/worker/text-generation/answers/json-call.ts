import type { CallHead, CallKind } from './call-heads.ts';
import { JsonArguments } from './json-arguments.ts';

const STRING = /"(?:[^"\\]|\\[^])*"/y;
const SPACE = /\s*/y;
const ARGUMENTS = ['arguments', 'parameters'];
/** Texts beside the name and the arguments that models write. */
const OTHERS = ['type', 'id'];

/** `{"name": "f", "arguments": {}}`, with its fields in any order. */
export const JSON_CALL: CallKind = {
  readHead,
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

function readHead(text: string): CallHead | 'more' | 'none' {
  const tokens = new Tokens(text);
  let [name, json]: (string | undefined)[] = [];
  for (let before = '{'; ; before = ',') {
    const field = tokens.take(before) ? tokens.string() : undefined;
    if (field === undefined || !tokens.take(':')) return tokens.isCut ? 'more' : 'none';
    if (ARGUMENTS.includes(field)) {
      if (!tokens.isBefore('{')) return tokens.isCut ? 'more' : 'none';
      if (name !== undefined) return { name, rest: tokens.rest };
      json = tokens.object();
      if (json === undefined) return 'more';
    } else {
      const value = field === 'name' || OTHERS.includes(field) ? tokens.string() : undefined;
      if (value === undefined) return tokens.isCut ? 'more' : 'none';
      if (field === 'name') name = value;
    }
    if (name !== undefined && json !== undefined) return { name, json, rest: tokens.rest };
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

  object(): string | undefined {
    const { json, rest } = new JsonArguments().push(this.rest);
    if (rest === undefined) return undefined;
    this.#at = this.#text.length - rest.length;
    return json;
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    return pattern.exec(this.#text)?.[0];
  }
}
