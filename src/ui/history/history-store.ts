import { clear, createStore, del, delMany, entries, keys, set } from 'idb-keyval';
import type { UseStore } from 'idb-keyval';

import type { GenerationTexts } from '../compose/generation-fields.ts';
import type { FinishReason } from '../../worker/protocol.ts';

/** One request that was sent from the page, with what came of it. */
export interface HistoryEntry {
  /** Sorts by time. */
  readonly key: string;
  /** ISO 8601. */
  readonly finishedAt: string;
  readonly model: string;
  readonly prompt: string;
  /** As they were typed. */
  readonly texts: GenerationTexts;
  readonly generatedTexts: readonly string[];
  readonly finishReason?: FinishReason;
  /** The one that was used: with it the text comes again. */
  readonly seed?: number;
  readonly numOutputTokens: number;
}

/** The oldest give way. */
const MAX_ENTRIES = 200;

let opened: UseStore | undefined;

/** Opened with the first use: a page that generates nothing makes no database. */
function database(): UseStore {
  opened ??= createStore('tabserve', 'history');
  return opened;
}

/** A request of the same key is one and the same: it is kept once. */
export async function addToHistory(entry: HistoryEntry): Promise<void> {
  await set(entry.key, entry, database());
  const known = await keys<string>(database());
  if (known.length > MAX_ENTRIES) {
    await delMany(known.toSorted().slice(0, known.length - MAX_ENTRIES), database());
  }
}

/** Newest first. */
export async function readHistory(): Promise<readonly HistoryEntry[]> {
  const all = await entries<string, HistoryEntry>(database());
  return all.map(([, entry]) => entry).toSorted((a, b) => (a.key < b.key ? 1 : -1));
}

export function removeFromHistory(key: string): Promise<void> {
  return del(key, database());
}

export function clearHistory(): Promise<void> {
  return clear(database());
}
