import { clear, createStore, del, delMany, entries, keys, set, type UseStore } from 'idb-keyval';
import type { GenerationTexts } from '../generation-fields.ts';
import type { FinishReason, WireError } from '../../../client/index.ts';
import { notStored } from './history-errors.ts';

export interface HistoryEntry {
  /** Sorts by time. */
  readonly key: string;
  /** ISO 8601. */
  readonly finishedAt: string;
  readonly model: string;
  readonly prompt: string;
  readonly texts: GenerationTexts;
  readonly generatedTexts: readonly string[];
  readonly finishReason?: FinishReason | undefined;
  /** The seed that was used, also where none was typed. */
  readonly seed?: number | undefined;
  readonly numOutputTokens: number;
}

const MAX_ENTRIES = 200;

let opened: UseStore | undefined;

/** The history of this tab since storing failed. */
const inMemory = new Map<string, HistoryEntry>();

let failure: WireError | undefined;

/** Why the history isn't stored; undefined where it is. */
export function historyFailure(): WireError | undefined {
  return failure;
}

export async function addToHistory(entry: HistoryEntry): Promise<void> {
  await withDatabase(
    async (database) => {
      await set(entry.key, entry, database);
      await delMany(tooMany(await keys<string>(database)), database);
    },
    () => {
      inMemory.set(entry.key, entry);
      for (const key of tooMany([...inMemory.keys()])) inMemory.delete(key);
    },
  );
}

/** Newest first. */
export async function readHistory(): Promise<readonly HistoryEntry[]> {
  const all = await withDatabase(
    async (database) => (await entries<string, HistoryEntry>(database)).map(([, entry]) => entry),
    () => [...inMemory.values()],
  );
  return all.toSorted((a, b) => (a.key < b.key ? 1 : -1));
}

export function removeFromHistory(key: string): Promise<void> {
  return withDatabase(
    (database) => del(key, database),
    () => void inMemory.delete(key),
  );
}

export function clearHistory(): Promise<void> {
  return withDatabase(clear, () => inMemory.clear());
}

/** Falls back to this tab's memory where there is no database, as in a private window, on a full disk or in a damaged profile. */
async function withDatabase<Result>(
  act: (database: UseStore) => Promise<Result>,
  actInMemory: () => Result,
): Promise<Result> {
  if (failure) return actInMemory();
  try {
    // Opened with the first use, so that a page that generates nothing creates no database.
    opened ??= createStore('tabserve', 'history');
    return await act(opened);
  } catch (cause) {
    failure = notStored(cause);
    return actInMemory();
  }
}

function tooMany(known: readonly string[]): string[] {
  return known.toSorted().slice(0, Math.max(0, known.length - MAX_ENTRIES));
}
