import { StorageQuotaError } from './errors.ts';

/** @throws StorageQuotaError where the browser has less room for this site than what is still to be written. */
export async function checkQuota(neededBytes: number): Promise<void> {
  const { quota = Infinity, usage = 0 } = await navigator.storage.estimate();
  if (neededBytes > quota - usage) throw StorageQuotaError.of(neededBytes, Math.max(0, quota - usage));
}
