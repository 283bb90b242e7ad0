import { textOf, wrongArgument } from '../batching/base/errors.ts';
import { requireText } from '../batching/base/validate.ts';
import { readCells, textOfCell, type JobCells } from './job-cells.ts';
import { MAX_PROMPT_LENGTH } from './wire.ts';
import { missingJobColumn, wrongJobRow } from './errors/job-messages.ts';
import { promptTooLongToRead } from './errors/deployment-messages.ts';

const PLACEHOLDER = /\{\{([^{}]*)\}\}/;

/** A template, taken apart: a text, a column, a text, and so on. */
export type TemplateParts = readonly string[];

/** Takes time in proportion to the template's length. */
export function parseTemplate(template: string): TemplateParts {
  return template.split(PLACEHOLDER).map((part, at) => (at % 2 === 0 ? part : part.trim()));
}

/**
 * The columns that a template names, each once.
 *
 * @throws InvalidOptionError for a template that is no text.
 */
export function columnsIn(template: string): readonly string[] {
  requireText('template', 'columnsIn', template);
  return [...new Set(parseTemplate(template).filter((_, at) => at % 2 === 1))];
}

/**
 * The first column that a template names and a row with these columns lacks.
 *
 * @throws InvalidOptionError for a template that is no text, and for columns that are no list.
 */
export function missingColumn(template: string, columns: Iterable<string>): string | undefined {
  requireText('template', 'missingColumn', template);
  if (typeof Object(columns)[Symbol.iterator] !== 'function')
    throw wrongArgument('columns', 'a list of names', 'missingColumn', columns);
  const names = new Set(Array.from(columns, (name) => textOf(name).trim()));
  return columnsIn(template).find((column) => !names.has(column));
}

/**
 * The template with a row's cells in place of `{{column}}`: texts as they are, nothing for null, and other values as JSON. Braces in a
 * row's text stay as they are.
 *
 * @param row A record, or the text of a JSON object, whose numbers stay as they are written.
 * @throws InvalidOptionError for a template that is no text; JobColumnError for a column that the row hasn't; JobRowError for a row of another form; PromptTooLongError.
 */
export function fillTemplate(template: string, row: Readonly<Record<string, unknown>> | string): string {
  requireText('template', 'fillTemplate', template);
  const cells = readCells(typeof row === 'string' ? row : jsonOf(row));
  if (!cells) throw wrongJobRow('row', 'a JSON object');
  return fillParts(parseTemplate(template), cells);
}

/** Empty for a row with a cycle or a bigint. */
function jsonOf(row: object): string {
  try {
    return JSON.stringify(row);
  } catch {
    return '';
  }
}

/** As `fillTemplate`, for many rows. */
export function fillParts(parts: TemplateParts, cells: JobCells): string {
  let text = '';
  for (const [at, part] of parts.entries()) {
    text += at % 2 === 0 ? part : textOfCell(cellOf(cells, part));
    // Checked on the way: a template of 1 MB may repeat a cell of 1 MB.
    if (text.length > MAX_PROMPT_LENGTH) throw promptTooLongToRead(text.length, MAX_PROMPT_LENGTH);
  }
  return text;
}

function cellOf(cells: JobCells, column: string): string {
  const cell = cells.get(column) ?? [...cells].find(([name]) => name.trim() === column)?.[1];
  if (cell !== undefined) return cell;
  throw missingJobColumn(column, [...cells.keys()]);
}
