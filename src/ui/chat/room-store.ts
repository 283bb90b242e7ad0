import { createStore, get, set, type UseStore } from 'idb-keyval';

import type { GenerationTexts } from '../compose/generation-fields.ts';
import { readStored, writeStored } from '../parts/stored-text.ts';
import type { Chat } from './chats.ts';

/** The part of a room that a reload brings back. */
export interface SavedRoom {
  readonly chats: readonly Chat[];
  readonly systemPrompt: string;
  readonly texts: GenerationTexts;
}

/** A tab's storage of its chats. Each open tab has its own. */
export interface RoomPlace {
  /** Undefined where there is none, or where the browser stores nothing. */
  read(): Promise<SavedRoom | undefined>;
  /** Does nothing where the browser stores nothing: then the chats last as long as the tab. */
  write(room: SavedRoom): Promise<void>;
}

const KEY = 'tabserve-chats';
/** How long a reloaded page waits for its predecessor to release its place, ms. */
const HANDOVER_MS = 2000;

/** Takes the place that this tab had before a reload, else the first one that no open tab has. */
export async function takePlace(locks: LockManager | undefined): Promise<RoomPlace> {
  if (!locks) return placeOf(0);
  const own = readStored('sessionStorage', KEY);
  if (own && (await hold(locks, Number(own), { signal: AbortSignal.timeout(HANDOVER_MS) })))
    return placeOf(Number(own));
  for (let number = 0; ; number += 1) {
    if (!(await hold(locks, number, { ifAvailable: true }))) continue;
    writeStored('sessionStorage', KEY, String(number));
    return placeOf(number);
  }
}

/** Holds the lock of a place for the life of the page; resolves with whether it does. */
function hold(locks: LockManager, number: number, options: LockOptions): Promise<boolean> {
  return new Promise((resolve) => {
    locks
      .request(`${KEY}-${number}`, options, (lock) => {
        resolve(lock !== null);
        return lock ? new Promise<never>(() => {}) : undefined;
      })
      .catch(() => resolve(false));
  });
}

let opened: UseStore | undefined;

/** A database of its own, because idb-keyval gives a database one table. */
function database(): UseStore {
  return (opened ??= createStore(KEY, 'rooms'));
}

function placeOf(number: number): RoomPlace {
  return {
    read: async () => {
      try {
        return await get<SavedRoom>(number, database());
      } catch {
        return undefined;
      }
    },
    write: async (room) => {
      try {
        await set(number, room, database());
      } catch {
        // A private window, a full disk or a damaged profile.
      }
    },
  };
}
