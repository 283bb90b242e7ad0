// JSON as its writer meant it. `JSON.parse` puts keys like "10" before all others, and gives 2.0 and 1413617112501850121 back as
// 2 and 1413617112501850000.

type JsonContainer = Readonly<Record<string, unknown>> | readonly unknown[];

/** The spellings of numbers that `JSON.stringify` would write in another way, by the key of the object or list that holds them. */
const spellings = new WeakMap<object, ReadonlyMap<string, string>>();
/** Objects that differ from the output of `JSON.parse`. */
const kept = new WeakSet<object>();

/** Every text that JSON.parse and JSON.stringify would change has a key of digits, perhaps escaped, or such a number. */
const MAY_DIFFER = /"\d+"\s*:|\\u003|\d[.eE]|(?:^|[\s:,[])-0|\d{16}/;
const INDEX = /^(?:0|[1-9]\d*)$/;

/**
 * As `JSON.parse`, but objects list their keys in the order of the text, and `spellingOf` knows how numbers were written. Takes
 * linear time, and no stack.
 *
 * @throws SyntaxError; RangeError for a text that is nested deeper than `maxDepth`, and has such keys or numbers.
 */
export function parseOrderedJson(text: string, maxDepth = Infinity): unknown {
  const value: unknown = JSON.parse(text);
  return MAY_DIFFER.test(text) ? readValid(text, maxDepth) : value;
}

/** Begins the texts that stand for spelled numbers until the JSON is written. `JSON.stringify` writes it as an escape. */
const MARK = '\0';
const MARKED = /(?<!\\)"\\u0000(?:number ([^"\\]*)"|text ((?:[^"\\]|\\.)*"))(?!:)/gu;

/** As `JSON.stringify`, but keys and numbers of what `parseOrderedJson` has read stay as they were written. */
export function writeOrderedJson(value: unknown): string | undefined {
  let isMarked = false;
  const json: string | undefined = JSON.stringify(
    value,
    function mark(this: object, key: string, part: unknown) {
      const spelling = typeof part === 'number' ? spellingOf(this, key) : undefined;
      const isOther = typeof part === 'string' && part.startsWith(MARK);
      if (spelling === undefined && !isOther) return part;
      isMarked = true;
      return spelling === undefined ? `${MARK}text ${String(part)}` : `${MARK}number ${spelling}`;
    },
  );
  if (!isMarked) return json;
  return json?.replace(MARKED, (_, number: string | undefined, text: string) => number ?? `"${text}`);
}

/** The text of a number that `JSON.stringify` would spell differently. */
export function spellingOf(holder: object, key: string | number): string | undefined {
  return spellings.get(holder)?.get(String(key));
}

/** Whether this object or list, or a part of it, would lose keys' order or numbers' spelling in `JSON.stringify` and `JSON.parse`. */
export function isKept(value: unknown): value is JsonContainer {
  return typeof value === 'object' && value !== null && kept.has(value);
}

/** An object or list whose end hasn't come. */
interface Open {
  readonly entries: [key: string, value: unknown][];
  readonly isList: boolean;
  spelled: Map<string, string> | undefined;
  key: string | undefined;
  isKept: boolean;
}

/** @param text Valid JSON. */
function readValid(text: string, maxDepth: number): unknown {
  const open: Open[] = [opened(true)];
  for (const token of tokensOf(text)) {
    const parent = open.at(-1) ?? opened(true);
    if (token === '{' || token === '[') {
      if (open.length > maxDepth) throw new RangeError(`it is nested deeper than ${maxDepth} levels`);
      open.push(opened(token === '['));
    } else if (token === '}' || token === ']') {
      const value = close(parent);
      open.pop();
      add(open.at(-1) ?? parent, value);
    } else addScalar(parent, token);
  }
  return open[0]?.entries[0]?.[1];
}

function opened(isList: boolean): Open {
  return { entries: [], isList, spelled: undefined, key: undefined, isKept: false };
}

function addScalar(parent: Open, token: string): void {
  const value: unknown = JSON.parse(token);
  if (!parent.isList && parent.key === undefined) {
    parent.key = String(value);
    return;
  }
  const key = parent.key ?? String(parent.entries.length);
  parent.spelled?.delete(key);
  if (typeof value === 'number' && String(value) !== token) (parent.spelled ??= new Map()).set(key, token);
  add(parent, value);
}

function add(parent: Open, value: unknown): void {
  parent.isKept ||= isKept(value);
  parent.entries.push([parent.key ?? '', value]);
  parent.key = undefined;
}

function close({ entries, isList, spelled, isKept: hasKept }: Open): JsonContainer {
  const value = isList ? entries.map(([, entry]) => entry) : inOrder(entries);
  if (spelled) spellings.set(value, spelled);
  if (hasKept || spelled) kept.add(value);
  return value;
}

/** An object whose keys stay in the order of the entries. A later entry replaces an earlier one of its name, in its place. */
export function inOrder(entries: readonly (readonly [string, unknown])[]): Readonly<Record<string, unknown>> {
  const record: Readonly<Record<string, unknown>> = Object.fromEntries(entries);
  if (!entries.some(([key]) => INDEX.test(key))) return record;
  const keys = [...new Set(entries.map(([key]) => key))];
  if (Object.keys(record).every((key, index) => key === keys[index])) return record;
  const ordered = new Proxy(record, { ownKeys: () => keys });
  kept.add(ordered);
  return ordered;
}

const BEFORE_TOKEN = /[\s,:]*/y;
const TOKEN = /[{}[\]]|[^\s,:{}[\]"]+/y;

/** The tokens of valid JSON, without commas and colons. */
function* tokensOf(text: string): Generator<string> {
  let at = 0;
  for (;;) {
    BEFORE_TOKEN.lastIndex = at;
    BEFORE_TOKEN.test(text);
    at = BEFORE_TOKEN.lastIndex;
    if (at >= text.length) return;
    const end = endOfToken(text, at);
    yield text.slice(at, end);
    at = end;
  }
}

function endOfToken(text: string, at: number): number {
  if (text[at] === '"') return endOfString(text, at);
  TOKEN.lastIndex = at;
  TOKEN.test(text);
  return TOKEN.lastIndex;
}

/** A quote behind an odd number of backslashes belongs to the string. */
function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); ; at = text.indexOf('"', at + 1)) {
    let numBackslashes = 0;
    while (text[at - 1 - numBackslashes] === '\\') numBackslashes += 1;
    if (numBackslashes % 2 === 0) return at + 1;
  }
}
