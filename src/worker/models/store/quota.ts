import { StorageQuotaError } from '../../protocol/errors/hub.ts';

/**
 * Asks the browser for room, and then takes it: the estimate alone says little (Chromium's always says 10 GiB).
 *
 * @param take Throws StorageQuotaError where there is less.
 * @throws StorageQuotaError with the number.
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
