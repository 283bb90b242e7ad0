/** The part of `navigator.locks` in use. */
export type Locks = Pick<LockManager, 'request' | 'query'>;

/** Whether a request for a lock was rejected because another tab or worker has stolen the lock. */
export function isStolen(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}

/** The browser's ID of the page or worker that holds this lock. Undefined if none does. */
export async function holderOf(locks: Locks, name: string): Promise<string | undefined> {
  const { held = [] } = await locks.query();
  return held.find((lock) => lock.name === name)?.clientId;
}
