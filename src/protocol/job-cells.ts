import { wrongArgument } from '../batching/base/errors.ts';
import { requireText } from '../batching/base/validate.ts';
import { isRecord } from '../platform/is-record.ts';
import { parseJson } from '../platform/parse-json.ts';

// A row of a job is the text of a JSON object, from the file to the disk and back. An object of JavaScript would move columns that
// look like numbers to the front, round long numbers, and hide columns such as `__proto__` behind what every object has.

/** The cells of a row by column, in the row's order. Each is the JSON of its value as it was written, without spaces. */
export type JobCells = ReadonlyMap<string, string>;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENING: ReadonlySet<number> = new Set([0x5b, 0x7b]);
const CLOSING: ReadonlySet<number> = new Set([0x5d, 0x7d]);
const COMMA = 0x2c;

/** Undefined for what is no text of a JSON object. Of two cells of one column, the last counts, as in JSON. */
export function readCells(row: string): JobCells | undefined {
  if (typeof row !== 'string' || !isRecord(parseJson(row))) return undefined;
  const json = compactJson(row);
  const cells = new Map<string, string>();
  for (let at = 1; json.charCodeAt(at) === QUOTE;) {
    const nameEnd = endOfString(json, at);
    const end = endOfValue(json, nameEnd + 1);
    cells.set(String(JSON.parse(json.slice(at, nameEnd))), json.slice(nameEnd + 1, end));
    at = end + 1;
  }
  return cells;
}

/**
 * The text of a row.
 *
 * @throws InvalidOptionError for what is no list of cells.
 */
export function writeCells(cells: Iterable<readonly [column: string, json: string]>): string {
  if (!isIterable(cells)) throw wrongArgument('cells', 'a list of cells', 'writeCells', cells);
  return `{${Array.from(cells, (cell, at) => {
    if (!Array.isArray(cell))
      throw wrongArgument(`cells[${at}]`, 'a column and its JSON', 'writeCells', cell);
    const [column, json] = cell;
    return `${JSON.stringify(column)}:${json}`;
  }).join(',')}}`;
}

function isIterable(value: unknown): boolean {
  return typeof Object(value)[Symbol.iterator] === 'function';
}

/**
 * A cell as prompts and tables show it: a text as it is, nothing for null, and other values as JSON.
 *
 * @throws InvalidOptionError for what is no JSON of a cell.
 */
export function textOfCell(json: string): string {
  requireText('json', 'textOfCell', json);
  if (json === 'null') return '';
  if (json.charCodeAt(0) !== QUOTE) return json;
  const text = parseJson(json);
  if (typeof text !== 'string') throw wrongArgument('json', 'JSON', 'textOfCell', json);
  return text;
}

/** Without the spaces and line ends between values. */
function compactJson(json: string): string {
  let compact = '';
  let begin = 0;
  for (let at = 0; at < json.length;) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) {
      at = endOfString(json, at);
    } else if (code <= 0x20) {
      compact += json.slice(begin, at);
      at += 1;
      begin = at;
    } else {
      at += 1;
    }
  }
  return compact + json.slice(begin);
}

/** Behind the closing quote of the string that begins here. */
function endOfString(json: string, begin: number): number {
  let at = begin + 1;
  for (; at < json.length && json.charCodeAt(at) !== QUOTE; at += 1) {
    if (json.charCodeAt(at) === BACKSLASH) at += 1;
  }
  return at + 1;
}

/** Behind the value that begins here, within an object without spaces. */
function endOfValue(json: string, begin: number): number {
  let depth = 0;
  for (let at = begin; at < json.length;) {
    const code = json.charCodeAt(at);
    if (depth === 0 && (code === COMMA || CLOSING.has(code))) return at;
    if (OPENING.has(code)) depth += 1;
    else if (CLOSING.has(code)) depth -= 1;
    at = code === QUOTE ? endOfString(json, at) : at + 1;
  }
  return json.length;
}
