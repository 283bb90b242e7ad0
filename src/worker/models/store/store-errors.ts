import { OF_SECURE_PAGES, OPEN_SECURELY } from '../../../protocol/errors/secure-page.ts';
import { JobStoreError } from '../../../protocol/errors/jobs.ts';
import { ModelStartError, ModelStoreError, StorageQuotaError } from '../../../protocol/errors/hub.ts';

// The messages are here and not in the classes, which every page loads.

export function tooLittleStorage(neededBytes: number, cause?: unknown): StorageQuotaError {
  return new StorageQuotaError(
    `The model needs ${inMegabytes(neededBytes)} of storage, more than the browser has left for this site. ` +
      'Delete stored models, free space on the disk, or choose a smaller model.',
    { cause },
  );
}

/** Storage ran out although the browser estimated enough. */
export function storageFull(cause: unknown): StorageQuotaError {
  return new StorageQuotaError(
    'The browser has no storage left for this site. Delete stored models, free space on the disk, or choose a smaller model.',
    { cause },
  );
}

export function storeUnusable(cause: unknown): ModelStoreError {
  return new ModelStoreError(
    `Couldn't use the browser's storage for models (${String(cause)}), so only the embedded model runs. Close other windows of this page, leave private browsing, or use another browser.`,
    { cause },
  );
}

export function storeNeedsSecurePage(): ModelStoreError {
  return new ModelStoreError(
    `Couldn't use the browser's storage for models (${OF_SECURE_PAGES}), so only the embedded model runs. ${OPEN_SECURELY}.`,
    { cause: OF_SECURE_PAGES },
  );
}

export function jobStoreNeedsSecurePage(): JobStoreError {
  return new JobStoreError(
    `Couldn't use the browser's storage for jobs (${OF_SECURE_PAGES}). ${OPEN_SECURELY}.`,
  );
}

export function startsBrokeOff(id: string): ModelStartError {
  return new ModelStartError(
    `Couldn't start ${id}: its last starts broke off. Using the embedded model instead. Load ${id} again, or a smaller model.`,
  );
}

function inMegabytes(bytes: number): string {
  return `${Math.ceil(bytes / 1e6).toLocaleString('en')} MB`;
}
