import { schemaOf, type GenerationTool } from '../../../batching/options/tools.ts';
import { isRecord } from '../../../platform/is-record.ts';
import { jsonOf, typesOf } from './argument-types.ts';
import { readPieces, type ArgumentsReader } from './arguments-reader.ts';
import { escaped, wholeLength } from './json-escapes.ts';

// Qwen 3 Coder and 3.5 write each argument in a tag of its own, without quotes: the schema tells a text from a number.

const PARAMETER = '<parameter=';
const PARAMETER_END = '</parameter>';
const FUNCTION_END = '</function>';
const CALL_END = '</tool_call>';
/** One of these follows the tag that ends a value. In a text the tag may come without them. */
const BEHIND_VALUE = [PARAMETER, FUNCTION_END, CALL_END];

/** Whether a value ends where some text begins: by so many characters of it, not, or it depends on what comes. */
type ValueEnd = number | 'more' | 'none';

/** Turns parameters in tags into JSON, from behind the function's name on. */
export class XmlArguments implements ArgumentsReader {
  readonly #schema;
  readonly #properties;
  #held = '';
  #state: 'start' | 'tags' | 'value' | 'text' | 'over' = 'start';
  #names = new Set<string>();
  #types: ReturnType<typeof typesOf> = new Set();
  /** Line breaks around a value are markup where it begins with one. */
  #hasLines = false;
  #isAtFirstBreak = false;

  constructor(tool: GenerationTool) {
    this.#schema = schemaOf(tool);
    const { properties } = this.#schema;
    this.#properties = isRecord(properties) ? properties : {};
  }

  push(text: string): ReturnType<ArgumentsReader['push']> {
    this.#held += text;
    return readPieces(
      () => this.#read(),
      () => (this.#state === 'over' ? this.#held : undefined),
    );
  }

  /** The next piece of JSON; undefined until more text comes. */
  #read(): string | undefined {
    if (this.#state === 'start') return this.#take(0, '{', 'tags');
    return this.#state === 'tags' ? this.#readTag() : this.#readValue();
  }

  /** Another text than a tag ends the arguments. */
  #readTag(): string | undefined {
    this.#held = this.#held.trimStart();
    const held = this.#held;
    const [tag, name = ''] = /^<parameter=([^>]*)>/.exec(held) ?? [];
    if (tag === undefined) {
      if (held.startsWith(FUNCTION_END)) return this.#take(FUNCTION_END.length, '}', 'over');
      const isBegun = FUNCTION_END.startsWith(held) || PARAMETER.startsWith(held);
      return isBegun || /^<parameter=[^>]*$/.test(held) ? undefined : this.#take(0, '}', 'over');
    }
    if (tag.length === held.length) return undefined;
    this.#hasLines = held.charAt(tag.length) === '\n';
    this.#isAtFirstBreak = this.#hasLines;
    this.#types = typesOf(this.#properties[name], this.#schema);
    const begin = `${this.#names.size === 0 ? '' : ','}${JSON.stringify(name)}:`;
    this.#names.add(name);
    const isText = this.#types.size === 1 && this.#types.has('string');
    return this.#take(tag.length, isText ? `${begin}"` : begin, isText ? 'text' : 'value');
  }

  /** A text is read as it comes, another value once it is whole. */
  #readValue(): string | undefined {
    const isText = this.#state === 'text';
    const { at, end } = this.#findEnd();
    if (typeof end === 'number') {
      const value = this.#takeText(at);
      return this.#take(end, isText ? `${escaped(value)}"` : jsonOf(value, this.#types), 'tags');
    }
    const length = isText ? wholeLength(this.#held.slice(0, at)) : 0;
    return length === 0 ? undefined : escaped(this.#takeText(length));
  }

  /** Where the value ends or may end; else the end of the text. */
  #findEnd(): { readonly at: number; readonly end: ValueEnd } {
    const held = this.#held;
    const before = this.#hasLines ? '\n' : '';
    for (let at = held.indexOf(`${before}<`); at >= 0; at = held.indexOf(`${before}<`, at + 1)) {
      const end = this.#endOf(held.slice(at + before.length));
      if (end === 'none') continue;
      return { at, end: end === 'more' ? end : end + before.length };
    }
    return { at: held.endsWith('\n') ? held.length - before.length : held.length, end: 'none' };
  }

  /** The tag of its end may be missing before the next argument, and before the end of the call. */
  #endOf(text: string): ValueEnd {
    if (text.startsWith(PARAMETER_END)) {
      const behind = text.slice(PARAMETER_END.length).trimStart();
      if (BEHIND_VALUE.some((mark) => behind.startsWith(mark))) return PARAMETER_END.length;
      return BEHIND_VALUE.some((mark) => mark.startsWith(behind)) ? 'more' : 'none';
    }
    if (text.startsWith(FUNCTION_END)) {
      const behind = text.slice(FUNCTION_END.length).trimStart();
      if (behind.startsWith(CALL_END)) return 0;
      return CALL_END.startsWith(behind) ? 'more' : 'none';
    }
    if (text.startsWith(PARAMETER)) {
      const [tag, name = ''] = /^<parameter=([^>\n]*)>?/.exec(text) ?? [];
      const isNext = Object.hasOwn(this.#properties, name) && !this.#names.has(name);
      if (tag?.endsWith('>')) return isNext ? 0 : 'none';
      return tag?.length === text.length ? 'more' : 'none';
    }
    return [PARAMETER_END, FUNCTION_END, PARAMETER].some((mark) => mark.startsWith(text)) ? 'more' : 'none';
  }

  /** So many characters of the value, without the line break at its beginning. */
  #takeText(length: number): string {
    const text = this.#held.slice(this.#isAtFirstBreak ? 1 : 0, length);
    this.#isAtFirstBreak &&= length === 0;
    this.#held = this.#held.slice(length);
    return text;
  }

  #take(length: number, json: string, state: 'tags' | 'value' | 'text' | 'over'): string {
    this.#held = this.#held.slice(length);
    this.#state = state;
    return json;
  }
}
