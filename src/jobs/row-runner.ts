import { systemClock } from '../batching/base/clock.ts';
import type { JobProgress } from '../protocol/jobs.ts';

/** What a row asks for. */
export interface RunRequest {
  readonly deployment: string;
  /** The prompt, or the text to embed. */
  readonly input: unknown;
}

/** A row as it was read: its request, or its result if it can't run. */
export type RowRead<Request, Result> = {
  /** Characters that were read to make it. */
  readonly length: number;
} & ({ readonly request: Request } | { readonly result: Result });

/** A row's result, to be stored. */
export interface RowOutcome<Result> {
  readonly index: number;
  readonly result: Result;
}

/** Rows and their results, in a file. */
export interface RowStore<Request, Result> {
  readonly numRows: number;
  /** Whether a row has no result. */
  isPending(index: number): boolean;
  /** What reads the rows of one window, in file order. */
  reader(): (index: number) => RowRead<Request, Result>;
  /** Stores all, or throws. */
  save(results: readonly RowOutcome<Result>[]): void;
}

/** What answers rows. */
export interface RowServer<Request> {
  /** Rows to keep running and waiting together. */
  numRowsFor(deployment: string): number;
  /** Calls `finish` or `wait` of the runner with the outcome. */
  submit(index: number, request: Request): void;
}

export interface RunnerListener<Reason> {
  /** Results were stored: rows count as done once they are. */
  onSaved(): void;
  /** No row can run for now, for this reason. They are tried again by and by. */
  onWaiting(reason: Reason): void;
  /** The store fails. Stop the runner: rows whose results it hasn't stored run again later. */
  onFailed(error: unknown): void;
}

/** Rows that are sorted together, and the characters that may be read to make them: of rows, templates and prompts. */
const WINDOW_ROWS = 128;
const WINDOW_LENGTH = 2 ** 22;

/** Results that share a write to the disk. A crash loses those of this time at most, and their rows run again. */
const MAX_UNSAVED = 64;
const SAVE_INTERVAL_MS = 100;

/** Rows that wait are tried again after a pause, which doubles up to the last one until a row is answered. */
const FIRST_PAUSE_MS = 100;
const LAST_PAUSE_MS = 2000;

interface ReadyRow<Request> extends WindowRow {
  readonly request: Request;
}

/** Runs the rows of a file that have no result, as many at a time as fill the slots. */
export class RowRunner<Request extends RunRequest, Result, Reason> {
  readonly #store: RowStore<Request, Result>;
  readonly #server: RowServer<Request>;
  readonly #listener: RunnerListener<Reason>;
  /** Deployments, by row. */
  readonly #inFlight = new Map<number, string>();
  readonly #rate = new RowRate();
  /** The next rows, in the order in which they run. */
  #window: readonly ReadyRow<Request>[] = [];
  /** The first row that no window has had. */
  #cursor = 0;
  /** Why rows of these deployments wait while others go on. */
  readonly #held = new Map<string, Reason>();
  /** The first row that waits. */
  #heldFrom = Infinity;
  #pauseMs = FIRST_PAUSE_MS;
  #isStopped = false;
  #isFilling = false;
  /** Whether this turn may read a window of rows: one each, which bounds its work. */
  #mayRead = true;
  #unsaved: RowOutcome<Result>[] = [];
  #cancelTurn = (): void => {};
  #cancelPause = (): void => {};
  #cancelSaving = (): void => {};

  constructor(
    store: RowStore<Request, Result>,
    server: RowServer<Request>,
    listener: RunnerListener<Reason>,
  ) {
    this.#store = store;
    this.#server = server;
    this.#listener = listener;
  }

  /** How fast it runs. */
  progress(numRowsLeft: number): JobProgress {
    return this.#rate.progress(numRowsLeft);
  }

  /** Submits rows until all slots are busy. Goes on by itself when rows end. */
  run(): void {
    if (this.#isStopped || this.#isFilling) return;
    this.#isFilling = true;
    this.#mayRead = true;
    for (let row = this.#takeNext(); row && !this.#isStopped; row = this.#takeNext()) {
      this.#inFlight.set(row.index, row.request.deployment);
      this.#server.submit(row.index, row.request);
    }
    this.#isFilling = false;
    if (this.#isStopped || this.#inFlight.size > 0) return;
    this.#saveNow();
    const [reason] = this.#held.values();
    // No row of the last window could run.
    if (this.#cursor < this.#store.numRows) this.#runSoon();
    else if (reason !== undefined) this.#listener.onWaiting(reason);
  }

  /** The deployment that answers this row now. */
  deploymentOf(index: number): string | undefined {
    return this.#inFlight.get(index);
  }

  /** @param numTokens Counts for the rate. */
  finish(index: number, result: Result, numTokens: number): void {
    if (!this.#inFlight.delete(index)) return;
    this.#pauseMs = FIRST_PAUSE_MS;
    this.#add(index, result, numTokens);
    this.run();
  }

  /**
   * The row has met what others of its deployment would meet, too: they wait for a pause, and run again.
   *
   * @param leastMs The least pause, as the server asks for one.
   */
  wait(index: number, reason: Reason, leastMs = 0): void {
    const deployment = this.#inFlight.get(index);
    if (deployment === undefined) return;
    this.#inFlight.delete(index);
    this.#hold(index);
    if (this.#held.size === 0) {
      const pauseMs = Math.max(this.#pauseMs, leastMs);
      this.#cancelPause = systemClock.setTimer(pauseMs, () => this.#retry());
    }
    this.#held.set(deployment, reason);
    this.run();
  }

  /** Stores the results that it has. Returns the rows in flight, whose outcome no longer counts: they run again later. */
  stop(): readonly number[] {
    this.#isStopped = true;
    this.#cancelTurn();
    this.#cancelPause();
    try {
      this.#store.save(this.#takeUnsaved());
    } catch {
      // The next save reports it. Rows whose results can't be stored run again.
    }
    const inFlight = [...this.#inFlight.keys()];
    this.#inFlight.clear();
    return inFlight;
  }

  #takeNext(): ReadyRow<Request> | undefined {
    if (this.#window.length === 0) {
      if (!this.#mayRead) {
        if (this.#cursor < this.#store.numRows) this.#runSoon();
        return undefined;
      }
      this.#mayRead = false;
      this.#window = this.#nextWindow();
    }
    if (this.#held.size > 0) this.#window = this.#window.filter((row) => !this.#isHeld(row));
    const [next, ...others] = this.#window;
    if (!next || this.#inFlight.size >= this.#server.numRowsFor(next.request.deployment)) return undefined;
    this.#window = others;
    return next;
  }

  /** Others of a deployment that waits would only be told the same. */
  #isHeld({ index, request }: ReadyRow<Request>): boolean {
    const isHeld = this.#held.has(request.deployment);
    if (isHeld) this.#hold(index);
    return isHeld;
  }

  #hold(index: number): void {
    this.#heldFrom = Math.min(this.#heldFrom, index);
  }

  #retry(): void {
    this.#pauseMs = Math.min(2 * this.#pauseMs, LAST_PAUSE_MS);
    this.#held.clear();
    // Rows that have a result by now are not read again.
    this.#saveNow();
    this.#cursor = Math.min(this.#cursor, this.#heldFrom, ...this.#window.map(({ index }) => index));
    this.#heldFrom = Infinity;
    this.#window = [];
    this.run();
  }

  #nextWindow(): readonly ReadyRow<Request>[] {
    const rows: ReadyRow<Request>[] = [];
    const { numRows } = this.#store;
    try {
      const read = this.#store.reader();
      let [numRead, length] = [0, 0];
      for (; this.#cursor < numRows && numRead < WINDOW_ROWS && length < WINDOW_LENGTH; this.#cursor += 1) {
        const index = this.#cursor;
        if (this.#isStopped || !this.#store.isPending(index) || this.#inFlight.has(index)) continue;
        const row = read(index);
        numRead += 1;
        length += row.length;
        if ('result' in row) {
          this.#add(index, row.result, 0);
          continue;
        }
        const { request } = row;
        const { input } = request;
        const text = typeof input === 'string' ? input : JSON.stringify(input ?? '');
        length += text.length;
        rows.push({ index, text, request });
      }
    } catch (error) {
      this.#listener.onFailed(error);
    }
    return sortWindow(rows);
  }

  #add(index: number, result: Result, numTokens: number): void {
    this.#rate.add(numTokens);
    this.#unsaved.push({ index, result });
    if (this.#unsaved.length === 1)
      this.#cancelSaving = systemClock.setTimer(SAVE_INTERVAL_MS, () => this.#saveNow());
    if (this.#unsaved.length >= MAX_UNSAVED) this.#saveNow();
  }

  #saveNow(): void {
    const results = this.#takeUnsaved();
    if (results.length === 0) return;
    try {
      this.#store.save(results);
    } catch (error) {
      this.#listener.onFailed(error);
      return;
    }
    this.#listener.onSaved();
  }

  #takeUnsaved(): readonly RowOutcome<Result>[] {
    this.#cancelSaving();
    const results = this.#unsaved;
    this.#unsaved = [];
    return results;
  }

  #runSoon(): void {
    this.#cancelTurn();
    this.#cancelTurn = systemClock.setTimer(0, () => this.run());
  }
}

/** Rows that begin alike for this long behind what all of the window share are worth a common prefill: about 32 tokens. */
const PREFIX_LENGTH = 128;

/** A row that waits to be run. */
interface WindowRow {
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

const RATE_SPAN_MS = 10_000;

/** Rows and tokens of the last ten seconds. */
class RowRate {
  readonly #startedAtMs = systemClock.now();
  readonly #rows: { readonly atMs: number; readonly numTokens: number }[] = [];

  add(numTokens: number): void {
    this.#forget();
    this.#rows.push({ atMs: systemClock.now(), numTokens });
  }

  progress(numRowsLeft: number): JobProgress {
    this.#forget();
    const now = systemClock.now();
    const { length: numRows } = this.#rows;
    const seconds = Math.max(100, Math.min(now - this.#startedAtMs, RATE_SPAN_MS)) / 1000;
    return {
      rowsPerSecond: numRows / seconds,
      tokensPerSecond: this.#rows.reduce((sum, { numTokens }) => sum + numTokens, 0) / seconds,
      ...(numRows > 0 && { remainingMs: (numRowsLeft * seconds * 1000) / numRows }),
    };
  }

  #forget(): void {
    const since = systemClock.now() - RATE_SPAN_MS;
    while ((this.#rows[0]?.atMs ?? Infinity) <= since) this.#rows.shift();
  }
}
