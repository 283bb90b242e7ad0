import { createStore, type StoreApi } from 'zustand/vanilla';

import type { Job, JobInfo, JobRow } from '../../../client/index.ts';

/** As many as one call may read. */
const ROWS_PER_READ = 1000;

/** How often one choice was the answer. */
export interface ChoiceShare {
  readonly choice: string;
  readonly numRows: number;
  /** Sum of the probabilities that the rows' answers had. */
  readonly confidence: number;
}

export interface ChoicesView {
  /** Rows with an answer that are counted. */
  readonly numRows: number;
  /** In the order of the choices. */
  readonly shares: readonly ChoiceShare[];
}

interface TalliedJob extends Pick<Job, 'rows' | 'subscribe'> {
  readonly info: Pick<JobInfo, 'counts'>;
}

/** Counts the answers of a job that are choices, each row once. Rows are done in another order than the file's. */
export class ChoiceTally {
  readonly store: StoreApi<ChoicesView>;
  readonly #job: TalliedJob;
  /** All rows before it are counted. */
  #from = 0;
  /** Counted rows behind it. */
  readonly #ahead = new Set<number>();
  #isReading = false;
  #isStale = false;
  #isOpen = false;

  constructor(job: TalliedJob, choices: readonly string[]) {
    this.#job = job;
    const shares = choices.map((choice) => ({ choice, numRows: 0, confidence: 0 }));
    this.store = createStore<ChoicesView>(() => ({ numRows: 0, shares }));
  }

  /** Counts until the returned function is called. A hidden view calls it, and follows again. */
  follow(): () => void {
    this.#isOpen = true;
    const unsubscribe = this.#job.subscribe(() => {
      this.#isStale = true;
      if (!this.#isReading) void this.#read();
    });
    return () => {
      this.#isOpen = false;
      unsubscribe();
    };
  }

  async #read(): Promise<void> {
    this.#isReading = true;
    try {
      while (this.#isStale && this.#isOpen) {
        this.#isStale = false;
        await this.#readOn();
      }
    } catch {
      // The table of the rows says why they can't be read.
    } finally {
      this.#isReading = false;
    }
  }

  /** Reads as far as rows are done that aren't counted. */
  async #readOn(): Promise<void> {
    const { finished, failed } = this.#job.info.counts;
    let numLeft = finished + failed - this.#from - this.#ahead.size;
    for (let from: number | undefined = this.#from; from !== undefined && numLeft > 0 && this.#isOpen;) {
      const page = await this.#job.rows({ from, limit: ROWS_PER_READ });
      const fresh = page.rows.filter(({ index, result }) => result && !this.#ahead.has(index));
      this.store.setState((view) => withRows(view, fresh));
      for (const { index } of fresh) this.#ahead.add(index);
      while (this.#ahead.delete(this.#from)) this.#from += 1;
      numLeft -= fresh.length;
      from = page.next;
    }
  }
}

function withRows({ numRows, shares }: ChoicesView, rows: readonly JobRow[]): ChoicesView {
  const answered = rows.filter(({ result }) => result && !result.error);
  return {
    numRows: numRows + answered.length,
    shares: shares.map((share, at) => {
      const own = answered.filter(({ result }) => result?.text === share.choice);
      const sum = own.reduce((total, { result }) => total + (result?.choiceProbabilities?.[at] ?? 0), 0);
      return { ...share, numRows: share.numRows + own.length, confidence: share.confidence + sum };
    }),
  };
}
