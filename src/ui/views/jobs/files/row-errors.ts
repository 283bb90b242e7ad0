import { countOf } from '../../../parts/format.ts';
import type { WireError } from '../../../../client/index.ts';

// Faults of a file's row. docs/errors.md is made from these functions.

export function brokenQuotes(line: number): WireError {
  const message = `The quotes in line ${line} don’t match. Put quotes around the whole cell, and write a quote within it twice.`;
  return { code: 'BROKEN_QUOTES', message };
}

export function tooManyCells(line: number, length: number, numColumns: number): WireError {
  const message = `Line ${line} has ${countOf(length, 'cell')}, but the first line names ${countOf(numColumns, 'column')}. Put quotes around cells that hold the separator.`;
  return { code: 'ROW_TOO_LONG', message };
}

export function tooFewCells(line: number, length: number, numColumns: number): WireError {
  const message = `Line ${line} has ${countOf(length, 'cell')}, but the first line names ${countOf(numColumns, 'column')}. Write a separator for each cell, also for an empty one, and put quotes around cells that hold a line break.`;
  return { code: 'ROW_TOO_SHORT', message };
}

export function notJson(line: number, fault: string): WireError {
  const message = `Line ${line} is not JSON (${fault}). Write each row on a line of its own.`;
  return { code: 'INVALID_JSON', message };
}

export function notRow(line: number): WireError {
  const message = `Row ${line} is neither an object nor a text. Write it as {"text": …}.`;
  return { code: 'INVALID_ROW', message };
}
