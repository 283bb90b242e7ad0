import { JobColumnError } from './errors/jobs.ts';

const PLACEHOLDER = /\{\{\s*([^{}]*?)\s*\}\}/g;

/** The columns that a template names, each once. */
export function columnsIn(template: string): readonly string[] {
  return [...new Set(Array.from(template.matchAll(PLACEHOLDER), ([, column = '']) => column))];
}

/**
 * The template with a row's texts in place of `{{column}}`. Braces in a row's text stay as they are.
 *
 * @throws JobColumnError for a column that the row hasn't.
 */
export function fillTemplate(template: string, row: Readonly<Record<string, unknown>>): string {
  return template.replace(PLACEHOLDER, (_, column: string) => {
    if (!Object.hasOwn(row, column)) throw JobColumnError.of(column, Object.keys(row));
    return String(row[column]);
  });
}
