/** `null` draws a gap. */
export type Cell = number | null;

/** The last `capacity` rows of a table, kept by column as uPlot reads it. */
export class RingColumns<Name extends string> {
  readonly #names: readonly Name[];
  readonly #columns: Cell[][];
  readonly #capacity: number;
  /** Row r lives at index r % capacity until row r + capacity replaces it. */
  #numPushed = 0;

  constructor(names: readonly Name[], capacity: number) {
    this.#names = names;
    this.#columns = names.map(() => []);
    this.#capacity = capacity;
  }

  get length(): number {
    return Math.min(this.#numPushed, this.#capacity);
  }

  /** Rows ever pushed. */
  get numPushed(): number {
    return this.#numPushed;
  }

  /** Cells in the order of the names; missing ones are gaps. */
  push(row: readonly Cell[]): void {
    const index = this.#numPushed % this.#capacity;
    for (const [column, cells] of this.#columns.entries()) cells[index] = row[column] ?? null;
    this.#numPushed += 1;
  }

  /** Columns by name, oldest row first; copies, because uPlot keeps what it is given. */
  read(names: readonly Name[]): Cell[][] {
    const oldest = this.#numPushed > this.#capacity ? this.#numPushed % this.#capacity : 0;
    return names.map((name) => {
      const cells = this.#cellsOf(name);
      return cells.slice(oldest).concat(cells.slice(0, oldest));
    });
  }

  last(name: Name): Cell {
    return this.#cellsOf(name)[(this.#numPushed - 1) % this.#capacity] ?? null;
  }

  #cellsOf(name: Name): readonly Cell[] {
    return this.#columns[this.#names.indexOf(name)] ?? [];
  }
}

/** The rows up to a time. */
export function readUntil<Name extends string>(
  table: RingColumns<Name | 'seconds'>,
  names: readonly Name[],
  untilSeconds = Infinity,
): Cell[][] {
  const columns = table.read(names);
  if (untilSeconds === Infinity) return columns;
  const [times = []] = table.read(['seconds']);
  const numRows = times.findLastIndex((seconds) => seconds !== null && seconds <= untilSeconds) + 1;
  return columns.map((cells) => cells.slice(0, numRows));
}
