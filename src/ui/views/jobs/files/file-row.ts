import type { WireError } from '../../../../client/index.ts';

/** A row of a file by the names of its columns, or why it can't be read. */
export type FileRow = { readonly line: number } &
  /** The text of a JSON object, so that columns keep their order and numbers stay as they are written. */
  ({ readonly json: string } | { readonly error: WireError });

/** The only column of a row that can't be read, before its line: its cell says why. */
export const UNREADABLE = 'unreadable, line ';

/** The longest row that is held in memory, in UTF-16 units. An unclosed quote would make one row of all the rest of a file. */
export const MAX_ROW_LENGTH = 2 ** 24;
