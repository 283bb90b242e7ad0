import type { CsvOptions } from './types.ts';

/** What Excel knows UTF-8 by. */
export const BYTE_ORDER_MARK = '\uFEFF';

/** With these at its beginning, a spreadsheet runs a cell as a formula. */
const FORMULA = /^[=+\-@\t\r＝＋－＠]/;

const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;

/** A line of RFC 4180. */
export function csvLine(
  texts: readonly (string | undefined)[],
  { escapeFormulas = true }: CsvOptions,
): string {
  const cells = texts.map((text = '') => quoted(escapeFormulas ? withoutFormula(text) : text));
  return `${cells.join(',')}\r\n`;
}

function withoutFormula(text: string): string {
  return FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
}

function quoted(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
