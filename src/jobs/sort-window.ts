/** Rows that begin alike for this long behind what all of the window share are worth a common prefill: about 32 tokens. */
const PREFIX_LENGTH = 128;

/** A row that waits to be run. */
export interface WindowRow {
  readonly index: number;
  /** The text that its prefill reads. */
  readonly text: string;
}

/**
 * The order in which the rows of a window run: rows with a common beginning one after another, so that it is prefilled once, and
 * within these, as among the others, the longest first, so that prompts of a step are alike and the last rows are short.
 */
export function sortWindow<Row extends WindowRow>(rows: readonly Row[]): readonly Row[] {
  const begin = sharedLength(rows.map(({ text }) => text));
  const groups = Map.groupBy(rows, ({ text }) => text.slice(begin, begin + PREFIX_LENGTH));
  const keys = [...groups].map(([key, { length }]) =>
    length > 1 && key.length === PREFIX_LENGTH ? key : '',
  );
  const order = new Map(keys.toSorted().map((key, at) => [key, at]));
  return [...groups.values()]
    .flatMap((group, at) => group.map((row) => ({ row, place: order.get(keys[at] ?? '') ?? 0 })))
    .toSorted(
      (a, b) => a.place - b.place || b.row.text.length - a.row.text.length || a.row.index - b.row.index,
    )
    .map(({ row }) => row);
}

/** How many characters all of these texts begin with. */
function sharedLength([first = '', ...others]: readonly string[]): number {
  let length = first.length;
  for (const text of others) {
    let at = 0;
    while (at < length && text.charCodeAt(at) === first.charCodeAt(at)) at += 1;
    length = at;
  }
  return length;
}
