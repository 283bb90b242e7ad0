import { describe, expect, it, vi } from 'vitest';

import { takePlace } from './room-store.ts';

/** Web Locks of a browser in which other tabs hold some of them. */
function createLocks(heldByOthers: readonly number[]) {
  const asked: string[] = [];
  const held = new Set(heldByOthers.map((number) => `tabserve-chats-${number}`));
  const request = async (
    name: string,
    { ifAvailable, signal }: LockOptions,
    act: (lock: Lock | null) => unknown,
  ): Promise<unknown> => {
    asked.push(name);
    if (!held.has(name)) return act({ name, mode: 'exclusive' });
    if (ifAvailable) return act(null);
    // No tab releases the lock.
    if (!signal) return new Promise<never>(() => {});
    throw new DOMException('The wait was too long.', 'TimeoutError');
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all that is asked of the locks
  return { locks: { request } as unknown as LockManager, asked };
}

function createSession(): Storage {
  const items = new Map<string, string>();
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all that is asked of the storage
  return {
    getItem: (key: string) => items.get(key) ?? null,
    setItem: (key: string, value: string) => void items.set(key, value),
  } as unknown as Storage;
}

const nameOf = (number: number): string => `tabserve-chats-${number}`;

describe('the place of a tab’s chats', () => {
  it('is the first that no open tab has', async () => {
    vi.stubGlobal('sessionStorage', createSession());
    const { locks, asked } = createLocks([0, 1]);
    await takePlace(locks);
    expect(asked).toEqual([0, 1, 2].map(nameOf));
  });

  it('is the same after a reload, also where an earlier place has become free', async () => {
    vi.stubGlobal('sessionStorage', createSession());
    await takePlace(createLocks([0]).locks);
    const { locks, asked } = createLocks([]);
    await takePlace(locks);
    expect(asked).toEqual([nameOf(1)]);
  });

  it('is another one in a copy of a tab, whose original still has it', async () => {
    vi.stubGlobal('sessionStorage', createSession());
    await takePlace(createLocks([]).locks);
    const { locks, asked } = createLocks([0]);
    await takePlace(locks);
    expect(asked).toEqual([0, 0, 1].map(nameOf));
  });
});

it('reads nothing and loses nothing else where the browser stores nothing', async () => {
  vi.stubGlobal('indexedDB', undefined);
  const place = await takePlace(undefined);
  await expect(place.read()).resolves.toBeUndefined();
  await expect(place.write({ chats: [], systemPrompt: '', texts: {} })).resolves.toBeUndefined();
});
