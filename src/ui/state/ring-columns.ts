/** A chart's value; `null` draws a gap. */
export type Cell = number | null;

/** The last `capacity` rows of a table, kept by column as uPlot reads it; the first column is x. */
export class RingColumns {
  readonly #columns: Cell[][];
  readonly #capacity: number;
  /** Rows ever pushed: row r lives at index r % capacity until row r + capacity replaces it. */
  #numPushed = 0;

  constructor(numColumns: number, capacity: number) {
    this.#columns = Array.from({ length: numColumns }, () => []);
    this.#capacity = capacity;
  }

  get length(): number {
    return Math.min(this.#numPushed, this.#capacity);
  }

  push(row: readonly Cell[]): void {
    const index = this.#numPushed % this.#capacity;
    for (const [column, cells] of this.#columns.entries()) cells[index] = row[column] ?? null;
    this.#numPushed += 1;
  }

  /** The columns, oldest row first; copies, because uPlot keeps what it is given. */
  read(): Cell[][] {
    const oldest = this.#numPushed > this.#capacity ? this.#numPushed % this.#capacity : 0;
    return this.#columns.map((cells) => [...cells.slice(oldest), ...cells.slice(0, oldest)]);
  }

  /** The newest cell of a column. */
  last(column: number): Cell {
    return this.#columns[column]?.[(this.#numPushed - 1) % this.#capacity] ?? null;
  }
}
