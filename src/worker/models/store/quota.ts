import { StorageQuotaError } from '../../protocol/errors/hub.ts';

/**
 * Checks the browser's estimate of free storage, then reserves it: the estimate is unreliable (Chromium's is always 10 GiB).
 *
 * @param take Reserves the storage; throws StorageQuotaError if there is less.
 * @throws StorageQuotaError with the number of bytes needed.
 */
export async function requireRoom(neededBytes: number, take: () => Promise<void>): Promise<void> {
  const { quota = Infinity, usage = 0 } = await navigator.storage.estimate();
  if (neededBytes > quota - usage) throw StorageQuotaError.of(neededBytes);
  try {
    await take();
  } catch (error) {
    throw error instanceof StorageQuotaError ? StorageQuotaError.of(neededBytes, error) : error;
  }
}
