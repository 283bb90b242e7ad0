import { InvalidOptionError } from '../../../batching/base/errors.ts';
import type { JsonRecord } from '../../../batching/base/validate-compound.ts';
import { isRecord } from '../../../platform/is-record.ts';
import { notEnforced } from './argument-shapes.ts';
import { readPieces, type ArgumentsReader } from './arguments-reader.ts';
import { escaped, wholeLength } from './json-escapes.ts';
import { overlap } from './overlap.ts';

// FunctionGemma writes arguments as `{city:<escape>Rome<escape>,days:3}`, with names in the order of the alphabet.

const QUOTE = '<escape>';

/** Keywords that describe a value and don't restrict it. */
const ANNOTATIONS = ['description', 'title', 'default', 'examples', '$schema'];
const KNOWN = new Set([
  ...ANNOTATIONS,
  'type',
  'enum',
  'const',
  'items',
  'properties',
  'required',
  'additionalProperties',
]);

const RULES = [
  `text ::= ${literal(QUOTE)} ([^<] | "<" [^e<])* ${literal(QUOTE)}`,
  'integer ::= "-"? ("0" | [1-9] [0-9]{0,14})',
  'number ::= integer ("." [0-9]{1,15})?',
  'boolean ::= "true" | "false"',
];
const RULE_OF_TYPE: ReadonlyMap<unknown, string> = new Map([
  ['string', 'text'],
  ['integer', 'integer'],
  ['number', 'number'],
  ['boolean', 'boolean'],
  ['null', '"null"'],
]);

/**
 * The EBNF of the arguments that fit a schema.
 *
 * @param option Names the schema in errors.
 * @throws ResponseFormatUnsupportedError for a keyword that isn't enforced.
 */
export function functionGemmaGrammar(parameters: JsonRecord, option: string): string {
  const rules = [...RULES];
  const define = (body: string): string => {
    const name = `rule${rules.length}`;
    rules.push(`${name} ::= ${body}`);
    return name;
  };

  const valueOf = (schema: unknown, place: string): string => {
    if (!isRecord(schema)) throw InvalidOptionError.of(place, 'a JSON Schema', schema);
    const unknown = Object.keys(schema).find((keyword) => !KNOWN.has(keyword));
    if (unknown !== undefined) throw notEnforced(`${place}.${unknown}`);
    const { enum: values = 'const' in schema ? [schema['const']] : undefined, type, items } = schema;
    if (Array.isArray(values)) return `(${values.map((value) => literal(spell(value))).join(' | ')})`;
    if (type === 'object') return objectOf(schema, place);
    if (type === 'array') {
      const item = define(valueOf(items, `${place}.items`));
      return `"[" (${item} ("," ${item})*)? "]"`;
    }
    const rule = RULE_OF_TYPE.get(type);
    if (rule === undefined) throw notEnforced(`${place}.type`);
    return rule;
  };

  const objectOf = ({ properties = {}, required = [] }: JsonRecord, place: string): string => {
    if (!isRecord(properties)) throw InvalidOptionError.of(`${place}.properties`, 'an object', properties);
    const isRequired = (name: string): boolean => Array.isArray(required) && required.includes(name);
    // From the last to the first: what follows a member depends on whether one came before.
    let [first, later] = ['""', '""'];
    for (const [name, schema] of Object.entries(properties).toSorted(([a], [b]) => (a < b ? 1 : -1))) {
      const member = define(`${literal(`${name}:`)} ${valueOf(schema, `${place}.properties.${name}`)}`);
      const [asFirst, asLater] = [`${member} ${later}`, `"," ${member} ${later}`];
      first = define(isRequired(name) ? asFirst : `${asFirst} | ${first}`);
      later = define(isRequired(name) ? asLater : `${asLater} | ${later}`);
    }
    return `"{" ${first} "}"`;
  };

  const root = objectOf(parameters, option);
  return [`root ::= ${root}`, ...rules].join('\n');
}

/** Turns the arguments into JSON. */
export class FunctionGemmaArguments implements ArgumentsReader {
  #held = '';
  #mode: 'key' | 'value' | 'text' = 'value';
  /** The objects and lists that are open. */
  readonly #open: string[] = [];

  push(text: string): ReturnType<ArgumentsReader['push']> {
    this.#held += text;
    return readPieces(
      () => this.#read(),
      () => (this.#open.length === 0 ? this.#held : undefined),
    );
  }

  /** The next piece of JSON; undefined until more text comes. */
  #read(): string | undefined {
    if (this.#held === '') return undefined;
    if (this.#mode === 'text') return this.#readText();
    if (this.#mode === 'key') {
      const [whole, name] = /^([^:}]*):/.exec(this.#held) ?? [];
      if (whole !== undefined) return this.#take(whole.length, `${JSON.stringify(name)}:`, 'value');
      return this.#held.startsWith('}') ? this.#readMark('}') : undefined;
    }
    return this.#readMark(this.#held.slice(0, 1));
  }

  #readText(): string | undefined {
    const at = this.#held.indexOf(QUOTE);
    const length = at < 0 ? wholeLength(this.#held.slice(0, -overlap(this.#held, QUOTE) || undefined)) : at;
    const text = escaped(this.#held.slice(0, length));
    if (at >= 0) return this.#take(at + QUOTE.length, `${text}"`, 'value');
    return length === 0 ? undefined : this.#take(length, text, 'text');
  }

  #readMark(mark: string): string | undefined {
    if (mark === '{' || mark === '[') this.#open.push(mark);
    else if (mark === '}' || mark === ']') this.#open.pop();
    else if (mark === '<')
      return this.#held.startsWith(QUOTE) ? this.#take(QUOTE.length, '"', 'text') : undefined;
    const isKeyNext = mark === '{' || (mark === ',' && this.#open.at(-1) === '{');
    return this.#take(1, mark, isKeyNext ? 'key' : 'value');
  }

  #take(length: number, json: string, mode: 'key' | 'value' | 'text'): string {
    this.#held = this.#held.slice(length);
    this.#mode = mode;
    return json;
  }
}

function spell(value: unknown): string {
  return typeof value === 'string' ? `${QUOTE}${value}${QUOTE}` : JSON.stringify(value);
}

function literal(text: string): string {
  return JSON.stringify(text);
}
