import { describe, expect, it } from 'vitest';

import type { JobInfo, JobRow, ReadRowsOptions, RowsPage } from '../../../client/index.ts';
import { RowWindow } from './row-window.ts';

/** Rows of a job as the client reads them: at most 40 at once, as where they are long. */
class PlayedRows {
  readonly all: JobRow[];
  numReads = 0;
  /** Reads wait for this. */
  gate: Promise<unknown> = Promise.resolve();

  constructor(numRows: number, isDone = true) {
    this.all = Array.from({ length: numRows }, (_, index) => ({
      index,
      input: { text: `text ${index}` },
      json: '',
      ...(isDone && { result: { text: 'x', numPromptTokens: 1, numOutputTokens: 1 } }),
    }));
  }

  finish(index: number, code?: string): void {
    const error = code === undefined ? {} : { error: { code, message: code } };
    const result = { text: 'x', numPromptTokens: 1, numOutputTokens: 1, ...error };
    this.all[index] = { index, input: {}, json: '', result };
  }

  async rows({ from = 0, limit = 100, only }: ReadRowsOptions = {}): Promise<RowsPage> {
    this.numReads += 1;
    await this.gate;
    const end = Math.min(this.all.length, from + 40);
    const rows: JobRow[] = [];
    let at = from;
    for (; at < end && rows.length < limit; at += 1) {
      const row = this.all[at];
      if (row && (only !== 'failed' || row.result?.error)) rows.push(row);
    }
    return { rows, next: at < this.all.length ? at : undefined };
  }
}

const indexesIn = (rowWindow: RowWindow): readonly number[] =>
  rowWindow.store.getState().rows.map(({ index }) => index);

const from = (first: number, count: number): number[] => Array.from({ length: count }, (_, at) => first + at);

const stateOf = (finished: number, numRetries = 0): Pick<JobInfo, 'counts' | 'numRetries'> => ({
  counts: { total: 50, finished, failed: 0 },
  numRetries,
});

/** Lets all reads that need no gate end. */
const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

describe('the rows in view', () => {
  it('are those of the place, over the ends of pages', async () => {
    const job = new PlayedRows(100_000);
    const rowWindow = new RowWindow(job, 100_000, {});
    for (const first of [0, 95, 50_190, 99_980]) {
      rowWindow.show(first, 20);
      await settle();
      expect(indexesIn(rowWindow)).toEqual(from(first, 20));
    }
  });

  it('stay until those of a new place are read, and are never none', async () => {
    const job = new PlayedRows(100_000);
    const rowWindow = new RowWindow(job, 100_000, {});
    rowWindow.show(0, 20);
    await settle();
    const { promise, resolve } = Promise.withResolvers<void>();
    job.gate = promise;
    const seen: number[] = [];
    rowWindow.store.subscribe(({ rows }) => seen.push(rows.length));
    for (let first = 1000; first <= 90_000; first += 1000) rowWindow.show(first, 20);
    await settle();
    expect(indexesIn(rowWindow)).toEqual(from(0, 20));
    resolve();
    await settle();
    expect(indexesIn(rowWindow)).toEqual(from(90_000, 20));
    expect(new Set(seen)).toEqual(new Set([20]));
  });

  it('are read once, also those next to them', async () => {
    const job = new PlayedRows(1000);
    const rowWindow = new RowWindow(job, 1000, {});
    rowWindow.show(100, 20);
    await settle();
    const { numReads } = job;
    for (const first of [100, 120, 180, 30]) rowWindow.show(first, 20);
    await settle();
    expect(job.numReads).toBe(numReads);
  });

  it('end with the last row, wherever the table was scrolled to', async () => {
    const rowWindow = new RowWindow(new PlayedRows(7), 7, {});
    rowWindow.show(5000, 20);
    await settle();
    expect(indexesIn(rowWindow)).toEqual(from(0, 7));
  });

  it('are read again while results come, also a result that came during a read', async () => {
    const job = new PlayedRows(50, false);
    const rowWindow = new RowWindow(job, 50, {});
    rowWindow.refresh(stateOf(0));
    rowWindow.show(0, 20);
    await settle();
    const { promise, resolve } = Promise.withResolvers<void>();
    job.gate = promise;
    job.finish(0);
    rowWindow.refresh(stateOf(1));
    await settle();
    job.finish(1);
    rowWindow.refresh(stateOf(2));
    resolve();
    await settle();
    const { rows } = rowWindow.store.getState();
    expect(rows.slice(0, 3).map(({ result }) => result?.text)).toEqual(['x', 'x', undefined]);
    const { numReads } = job;
    rowWindow.refresh(stateOf(2));
    await settle();
    expect(job.numReads, 'nothing has changed').toBe(numReads);
  });

  it('are found by a filter as far as one scrolls, and those that come later too', async () => {
    const job = new PlayedRows(10_000);
    for (let index = 5; index < 10_000; index += 10) job.finish(index, 'X');
    const rowWindow = new RowWindow(job, 10_000, { only: 'failed' });
    const all = { total: 10_000, finished: 9000, failed: 1000 };
    rowWindow.refresh({ counts: all, numRetries: 0 });
    rowWindow.show(0, 20);
    await settle();
    expect(indexesIn(rowWindow)).toEqual(from(0, 20).map((at) => 5 + 10 * at));
    const known = rowWindow.store.getState().numRows;
    expect(known, 'a page is read ahead').toBe(200);
    rowWindow.show(190, 20);
    await settle();
    expect(rowWindow.store.getState().numRows).toBe(400);
    rowWindow.show(0, 20);
    job.finish(0, 'X');
    rowWindow.refresh({ counts: { ...all, failed: 1001 }, numRetries: 0 });
    await settle();
    expect(indexesIn(rowWindow).slice(0, 3)).toEqual([0, 5, 15]);
    expect(rowWindow.store.getState().isSearching).toBe(false);
  });

  it('are read no more while the table is hidden, and go on once it is back', async () => {
    const job = new PlayedRows(100_000);
    const rowWindow = new RowWindow(job, 100_000, { only: 'failed' });
    const hide = rowWindow.open();
    rowWindow.show(0, 20);
    hide();
    await settle();
    expect(job.numReads).toBe(1);
    rowWindow.open();
    rowWindow.show(0, 20);
    await settle();
    expect(job.numReads).toBeGreaterThan(1);
  });

  it('are said to be read until some are there, also of a search that was hidden meanwhile', async () => {
    const job = new PlayedRows(200);
    job.finish(150, 'X');
    const rowWindow = new RowWindow(job, 200, { only: 'failed' });
    const { promise, resolve } = Promise.withResolvers<void>();
    job.gate = promise;
    const hide = rowWindow.open();
    rowWindow.show(0, 20);
    hide();
    resolve();
    await settle();
    expect(rowWindow.store.getState()).toMatchObject({ isSearching: true, rows: [] });
    rowWindow.open();
    rowWindow.show(0, 20);
    await settle();
    expect(rowWindow.store.getState().isSearching).toBe(false);
    expect(indexesIn(rowWindow)).toEqual([150]);
    expect(new RowWindow(job, 200, {}).store.getState().isSearching).toBe(true);
  });

  it('are read again where a row that was done has run again', async () => {
    const job = new PlayedRows(50);
    const rowWindow = new RowWindow(job, 50, {});
    rowWindow.refresh(stateOf(50));
    rowWindow.show(0, 20);
    await settle();
    job.finish(3, 'X');
    rowWindow.refresh(stateOf(50, 1));
    await settle();
    expect(rowWindow.store.getState().rows[3]?.result?.error?.code).toBe('X');
  });

  it('say why they can’t be read', async () => {
    const rowWindow = new RowWindow({ rows: () => Promise.reject(new Error('gone')) }, 10, {});
    rowWindow.show(0, 5);
    await settle();
    expect(rowWindow.store.getState().error?.message).toBe('gone');
  });
});
