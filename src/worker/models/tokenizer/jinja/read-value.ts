import { Dict } from './containers.ts';
import { PyObject, type Value } from './values.ts';

/**
 * A value of a request as Python has it. JavaScript keeps no difference between 2 and 2.0: whole numbers are ints. Fields
 * that are undefined are left out.
 */
export function valueOf(given: unknown): Value {
  if (given === null || given === undefined) return null;
  if (typeof given === 'string' || typeof given === 'boolean' || typeof given === 'bigint') return given;
  if (typeof given === 'number') return Number.isInteger(given) ? BigInt(given) : given;
  if (given instanceof PyObject) return given;
  if (Array.isArray(given)) return given.map(valueOf);
  if (given instanceof JsonText) return readJson(given.text);
  const fields = Object.entries(given).filter(([, value]: readonly [string, unknown]) => value !== undefined);
  return new Dict(fields.map(([name, value]: readonly [string, unknown]) => [name, valueOf(value)]));
}

/** JSON whose text is known, so that its order and the form of its numbers are. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

const TOKEN = /[\s]*("(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|true|false|null|[[\]{}:,])/gy;

/** Reads JSON as Python's `json.loads`: fields in their order, ints of any size, 2.0 as a float. @throws SyntaxError */
export function readJson(text: string): Value {
  // Throws for what is no JSON: the reader below relies on it.
  JSON.parse(text);
  const tokens = text.matchAll(TOKEN);
  const next = (): string => tokens.next().value?.[1] ?? '';
  const readAt = (token: string): Value => {
    if (token === '[') return readItems();
    if (token === '{') return readFields();
    if (token.startsWith('"')) return String(JSON.parse(token));
    if (token === 'true' || token === 'false') return token === 'true';
    if (token === 'null') return null;
    return /[.eE]/.test(token) ? Number(token) : BigInt(token);
  };
  const readItems = (): Value => {
    const items: Value[] = [];
    for (let token = next(); token !== ']'; token = next()) if (token !== ',') items.push(readAt(token));
    return items;
  };
  const readFields = (): Value => {
    const fields: (readonly [Value, Value])[] = [];
    for (let token = next(); token !== '}'; token = next()) {
      if (token === ',') continue;
      next();
      fields.push([String(JSON.parse(token)), readAt(next())]);
    }
    return new Dict(fields);
  };
  return readAt(next());
}
