import { createStore, type StoreApi } from 'zustand/vanilla';

import type { Job, JobInfo, JobRow, ReadRowsOptions, WireError } from '../../../client/index.ts';
import { toWireError } from '../../parts/to-wire-error.ts';

export type RowFilter = Pick<ReadRowsOptions, 'only' | 'search'>;

export interface RowWindowView {
  /** The place in the list of the first of `rows`. */
  readonly first: number;
  /** The rows in view. They stay until those of a new place are read, so the table is never blank. */
  readonly rows: readonly JobRow[];
  /** Rows of the list. With a filter, of those found so far. */
  readonly numRows: number;
  /** The rows haven’t been gone through so far that an empty table means that there are none. */
  readonly isSearching: boolean;
  readonly error?: WireError | undefined;
}

/** Rows are read this many at a time. */
const PAGE_SIZE = 100;
/** The pages kept around the view. */
const MAX_PAGES = 20;

/** The part of a job’s rows that is in view, and the pages around it. */
export class RowWindow {
  readonly store: StoreApi<RowWindowView>;
  readonly #job: Pick<Job, 'rows'>;
  readonly #filter: RowFilter;
  readonly #hasFilter: boolean;
  /** By their place in the list. The last one is the one that was used last. */
  readonly #pages = new Map<number, readonly JobRow[]>();
  /** With a filter: the index in the file at which each known page begins. */
  #starts = [0];
  #first = 0;
  #count = 0;
  #isReading = false;
  #isStale = false;
  /** At the last refresh. Once rows run again, those that were done have other results. */
  #numRetries: number | undefined;
  /** The counts at the last refresh. */
  #readAt: string | undefined;
  #isOpen = true;

  constructor(job: Pick<Job, 'rows'>, numRows: number, filter: RowFilter) {
    this.#job = job;
    this.#filter = filter;
    this.#hasFilter = filter.only !== undefined || filter.search !== undefined;
    this.store = createStore<RowWindowView>(() => ({
      first: 0,
      rows: [],
      numRows: this.#hasFilter ? 0 : numRows,
      isSearching: true,
    }));
  }

  /** Brings rows into view once they are read. */
  show(first: number, count: number): void {
    this.#first = first;
    this.#count = count;
    this.#draw();
    void this.#read();
  }

  /** Reads rows again that may have changed, if the counts have. */
  refresh({ counts: { finished, failed }, numRetries }: Pick<JobInfo, 'counts' | 'numRetries'>): void {
    if (numRetries !== this.#numRetries) this.#pages.clear();
    this.#numRetries = numRetries;
    const counts = `${finished} ${failed} ${numRetries}`;
    if (counts === this.#readAt) return;
    this.#isStale = this.#readAt !== undefined;
    this.#readAt = counts;
    void this.#read();
  }

  /** Reads until the returned function is called. A hidden view calls it, and opens it again. */
  open(): () => void {
    this.#isOpen = true;
    return () => {
      this.#isOpen = false;
    };
  }

  /** One page at a time: what comes into view meanwhile is read next. */
  async #read(): Promise<void> {
    if (this.#isReading) return;
    this.#isReading = true;
    try {
      while (this.#isOpen) {
        this.#dropStale();
        const page = this.#missingPage();
        if (page === undefined) break;
        await this.#readPage(page);
        this.#draw();
      }
      this.store.setState({ isSearching: !this.#isOpen, error: undefined });
    } catch (caught) {
      this.store.setState({ isSearching: false, error: toWireError(caught) });
    } finally {
      this.#isReading = false;
    }
  }

  /** Only a row with a result never changes. With a filter, a row may come into any page. */
  #dropStale(): void {
    if (!this.#isStale) return;
    this.#isStale = false;
    for (const [page, rows] of this.#pages)
      if (this.#hasFilter || rows.some(({ result }) => !result || result.error)) this.#pages.delete(page);
  }

  /** The pages in view come first, then their neighbors. */
  #missingPage(): number | undefined {
    const { first, end } = this.#placeInList();
    const firstPage = Math.floor(first / PAGE_SIZE);
    const lastPage = Math.floor(Math.max(first, end - 1) / PAGE_SIZE);
    const inView = Array.from({ length: lastPage - firstPage + 1 }, (_, at) => firstPage + at);
    return [...inView, lastPage + 1, firstPage - 1].find(
      (page) => !this.#pages.has(page) && this.#startOf(page) !== undefined,
    );
  }

  /** The index in the file at which a page begins; undefined where there is no such page. */
  #startOf(page: number): number | undefined {
    if (this.#hasFilter) return this.#starts[page];
    const start = page * PAGE_SIZE;
    return start >= 0 && start < this.store.getState().numRows ? start : undefined;
  }

  async #readPage(page: number): Promise<void> {
    const rows: JobRow[] = [];
    let from = this.#startOf(page);
    while (from !== undefined && rows.length < PAGE_SIZE && this.#isOpen) {
      const limit = PAGE_SIZE - rows.length;
      const read = await this.#job.rows({ ...this.#filter, from, limit });
      rows.push(...read.rows);
      from = read.next;
    }
    // The rest of the page isn't read.
    if (!this.#isOpen) return;
    this.#pages.set(page, rows);
    const [oldest] = this.#pages.keys();
    if (this.#pages.size > MAX_PAGES && oldest !== undefined) this.#pages.delete(oldest);
    if (!this.#hasFilter) return;
    this.#starts = [...this.#starts.slice(0, page + 1), ...(from === undefined ? [] : [from])];
    this.store.setState({ numRows: page * PAGE_SIZE + rows.length });
  }

  /** Does nothing while a row in view isn’t read. */
  #draw(): void {
    const { first, end } = this.#placeInList();
    const rows: JobRow[] = [];
    for (let at = first; at < end; at += 1) {
      const row = this.#pages.get(Math.floor(at / PAGE_SIZE))?.[at % PAGE_SIZE];
      if (!row) return;
      rows.push(row);
    }
    this.store.setState({ first, rows });
  }

  /** The visible range, clamped to the list. */
  #placeInList(): { readonly first: number; readonly end: number } {
    const { numRows } = this.store.getState();
    const first = Math.max(0, Math.min(this.#first, numRows - this.#count));
    return { first, end: Math.min(numRows, first + this.#count) };
  }
}
