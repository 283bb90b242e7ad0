import { createStore, type StoreApi } from 'zustand/vanilla';

import type { Job, JobRow } from '../../../client/index.ts';

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

/** Counts the answers of a job that are choices, each row once: in file order, as far as rows are done without a gap. */
export class ChoiceTally {
  readonly store: StoreApi<ChoicesView>;
  readonly #job: Pick<Job, 'rows' | 'subscribe'>;
  /** Whether rows that are not done are passed over. */
  readonly #skipsGaps: boolean;
  #from = 0;
  #isReading = false;
  #isStale = false;
  #isOpen = false;

  /** @param skipsGaps For a job that has ended before all its rows. */
  constructor(job: Pick<Job, 'rows' | 'subscribe'>, choices: readonly string[], skipsGaps: boolean) {
    this.#job = job;
    this.#skipsGaps = skipsGaps;
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

  async #readOn(): Promise<void> {
    for (let from: number | undefined = this.#from; from !== undefined && this.#isOpen;) {
      const page = await this.#job.rows({ from, limit: ROWS_PER_READ });
      const gap = this.#skipsGaps ? -1 : page.rows.findIndex(({ result }) => !result);
      const rows = gap === -1 ? page.rows : page.rows.slice(0, gap);
      this.store.setState((view) => withRows(view, rows));
      this.#from = (rows.at(-1)?.index ?? this.#from - 1) + 1;
      from = gap === -1 ? page.next : undefined;
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
