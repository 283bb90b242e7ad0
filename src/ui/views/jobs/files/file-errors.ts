import type { WireError } from '../../../../client/index.ts';

// Why a file can't be read at all. docs/errors.md is made from these functions.

/** Why a file can't be read, and what to do. */
export class FileRefusal extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }

  /** @param error Of its first row, where no other row can be read. */
  static ofRow({ code, message }: WireError): FileRefusal {
    return new FileRefusal(code, message);
  }
}

export function emptyFile(name: string): FileRefusal {
  return new FileRefusal('FILE_EMPTY', `“${name}” is empty. Choose another file.`);
}

export function fileWithoutRows(name: string): FileRefusal {
  const message = `“${name}” has no rows. The first line of a table names its columns; the rows follow.`;
  return new FileRefusal('FILE_EMPTY', message);
}

export function notJsonFile(name: string, start: string): FileRefusal {
  const message = `“${name}” holds no JSON: it begins with “${start}”. If it is a table, rename it to .csv.`;
  return new FileRefusal('FILE_FORMAT', message);
}

export function notTableFile(name: string): FileRefusal {
  const message = `“${name}” holds JSON, not a table. Rename it to .json or .jsonl.`;
  return new FileRefusal('FILE_FORMAT', message);
}

export function unreadableFile(name: string, cause: unknown): FileRefusal {
  const message = `Couldn’t read “${name}” (${String(cause)}). It may have changed since it was chosen: choose it again.`;
  return new FileRefusal('FILE_UNREADABLE', message);
}

export function otherEncoding(name: string, encoding: string, line: number): FileRefusal {
  const message = `“${name}” is not in ${encoding}: see line ${line}. It may be in Windows-1252, as older programs write it. Save it again as UTF-8; Excel calls it “CSV UTF-8”.`;
  return new FileRefusal('FILE_ENCODING', message);
}

export function utf32File(name: string): FileRefusal {
  return new FileRefusal('FILE_ENCODING', `“${name}” is in UTF-32. Save it as UTF-8.`);
}

export function workbookFile(name: string): FileRefusal {
  const message = `“${name}” is a ZIP archive or an Excel workbook, not a text file. Open it, and save the sheet as CSV.`;
  return new FileRefusal('FILE_NOT_TEXT', message);
}

export function notTextFile(name: string): FileRefusal {
  const message = `“${name}” is not a text file, or it is UTF-16 without a byte order mark. Save it as UTF-8.`;
  return new FileRefusal('FILE_NOT_TEXT', message);
}

/** @param where As “after row 3”. */
export function brokenJsonFile(where: string, fault: string): FileRefusal {
  return new FileRefusal('INVALID_JSON', `The JSON is broken ${where}: ${fault}. Correct it there.`);
}

/** @param place As “Line 3”. */
export function rowTooLong(place: string, maxLength: number): FileRefusal {
  const message = `${place} is longer than ${maxLength} characters. Split it into several rows.`;
  return new FileRefusal('ROW_TOO_LONG', message);
}

export function tooManyOpenQuotes(number: number, line: number): FileRefusal {
  const message = `More than ${number} quotes never close, the last in line ${line}. Is it really a table? Write a quote within a cell twice.`;
  return new FileRefusal('BROKEN_QUOTES', message);
}
