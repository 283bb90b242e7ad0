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

/** A number of those that stand under this key, by name. */
export function readNumber(key: string, name: string): number | undefined {
  const value = readNumbers(key)[name];
  return typeof value === 'number' ? value : undefined;
}

export function writeNumber(key: string, name: string, value: number): void {
  const numbers = readNumbers(key);
  if (numbers[name] !== value)
    writeStored('localStorage', key, JSON.stringify({ ...numbers, [name]: value }));
}

function readNumbers(key: string): Readonly<Record<string, unknown>> {
  try {
    const numbers: unknown = JSON.parse(readStored('localStorage', key) ?? '{}');
    return { ...(typeof numbers === 'object' && numbers) };
  } catch {
    return {};
  }
}
