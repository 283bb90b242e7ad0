type StorageName = 'localStorage' | 'sessionStorage';

/** Null before anything is stored; undefined where the browser stores nothing, as in a private window. */
export function readStored(storage: StorageName, key: string): string | null | undefined {
  try {
    return globalThis[storage].getItem(key);
  } catch {
    return undefined;
  }
}

export function writeStored(storage: StorageName, key: string, text: string): void {
  try {
    globalThis[storage].setItem(key, text);
  } catch {
    // The page works without what it would remember.
  }
}
