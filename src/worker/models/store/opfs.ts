import { ModelStoreError, StorageQuotaError } from '../../../protocol/errors/hub.ts';
import type { SyncFile } from '../../../platform/sync-file.ts';
import { storageFull, storeNeedsSecurePage, storeUnusable, tooLittleStorage } from './store-errors.ts';

/** Exists in dedicated workers only; TypeScript's DOM library has the types of a page. */
interface SyncFileHandle extends FileSystemFileHandle {
  createSyncAccessHandle(): Promise<SyncFile>;
}

/** A folder of this site's storage. @throws ModelStoreError if the browser has no OPFS. */
export async function openFolder(...path: readonly string[]): Promise<FileSystemDirectoryHandle> {
  // Missing in insecure contexts and some browsers, although the type says otherwise.
  const storage = navigator.storage as StorageManager | undefined;
  if (!storage || !('getDirectory' in storage))
    throw globalThis.isSecureContext ? storeUnusable('it has none here') : storeNeedsSecurePage();
  try {
    let folder = await storage.getDirectory();
    for (const name of path) folder = await createFolder(folder, name);
    return folder;
  } catch (cause) {
    throw storeErrorOf(cause);
  }
}

/** Opens the folder, or creates it. @throws StorageQuotaError, ModelStoreError. */
export async function createFolder(
  parent: FileSystemDirectoryHandle,
  name: string,
): Promise<FileSystemDirectoryHandle> {
  try {
    return await parent.getDirectoryHandle(name, { create: true });
  } catch (cause) {
    throw storeErrorOf(cause);
  }
}

/** Opens the file, or creates it. Writes beyond the site's quota throw StorageQuotaError. */
export async function openSyncFile(folder: FileSystemDirectoryHandle, name: string): Promise<SyncFile> {
  const file = await createSyncFile(folder, name);
  return {
    getSize: () => file.getSize(),
    read: (target, options) => file.read(target, options),
    write(source, options) {
      const written = withinQuota(() => file.write(source, options));
      // Chromium 156 does not throw when the quota is full, but returns a meaningless number.
      if (written === source.byteLength) return written;
      throw storageFull(`wrote ${written} of ${source.byteLength} bytes`);
    },
    truncate(size) {
      withinQuota(() => file.truncate(size));
      if (file.getSize() !== size) throw storageFull(`the file has ${file.getSize()} bytes`);
    },
    flush: () => withinQuota(() => file.flush()),
    close: () => file.close(),
  };
}

async function createSyncFile(folder: FileSystemDirectoryHandle, name: string): Promise<SyncFile> {
  try {
    const handle = await folder.getFileHandle(name, { create: true });
    if (canOpenSync(handle)) return await handle.createSyncAccessHandle();
  } catch (cause) {
    throw storeErrorOf(cause);
  }
  throw storeUnusable('this is no dedicated worker');
}

/** Undefined if there is no such file, or it is damaged. */
export async function readJsonFile(folder: FileSystemDirectoryHandle, name: string): Promise<unknown> {
  const handle = await ifFound(folder.getFileHandle(name));
  if (!handle) return undefined;
  try {
    return JSON.parse(await (await handle.getFile()).text());
  } catch {
    // A crash left it half written.
    return undefined;
  }
}

export async function writeJsonFile(
  folder: FileSystemDirectoryHandle,
  name: string,
  value: unknown,
): Promise<void> {
  const file = await openSyncFile(folder, name);
  try {
    const bytes = new TextEncoder().encode(JSON.stringify(value));
    // Grows before it writes: if there is no room, the old content is not lost.
    if (file.getSize() < bytes.byteLength) file.truncate(bytes.byteLength);
    file.write(bytes, { at: 0 });
    file.truncate(bytes.byteLength);
    file.flush();
  } finally {
    file.close();
  }
}

/** Does nothing if there is no such entry. */
export async function removeEntry(folder: FileSystemDirectoryHandle, name: string): Promise<void> {
  await ifFound(folder.removeEntry(name, { recursive: true }));
}

/** Undefined if there is no entry of that name. */
export async function ifFound<Value>(entry: Promise<Value>): Promise<Value | undefined> {
  try {
    return await entry;
  } catch (error) {
    if (error instanceof DOMException && error.name === 'NotFoundError') return undefined;
    throw storeUnusable(error);
  }
}

export async function foldersIn(
  folder: FileSystemDirectoryHandle,
): Promise<readonly FileSystemDirectoryHandle[]> {
  return (await entriesOf(folder)).filter((entry) => entry.kind === 'directory');
}

export async function filesIn(folder: FileSystemDirectoryHandle): Promise<readonly File[]> {
  const handles = (await entriesOf(folder)).filter((entry) => entry.kind === 'file');
  return Promise.all(handles.map((handle) => handle.getFile()));
}

/** Empty for a folder that is gone. @throws ModelStoreError. */
async function entriesOf(
  folder: FileSystemDirectoryHandle,
): Promise<readonly (FileSystemDirectoryHandle | FileSystemFileHandle)[]> {
  return (await ifFound(Array.fromAsync(folder.values()))) ?? [];
}

function canOpenSync(handle: FileSystemFileHandle): handle is SyncFileHandle {
  return 'createSyncAccessHandle' in handle;
}

function withinQuota<Value>(write: () => Value): Value {
  try {
    return write();
  } catch (error) {
    throw isQuotaExceeded(error) ? storageFull(error) : error;
  }
}

function storeErrorOf(cause: unknown): Error {
  if (cause instanceof StorageQuotaError || cause instanceof ModelStoreError) return cause;
  return isQuotaExceeded(cause) ? storageFull(cause) : storeUnusable(cause);
}

function isQuotaExceeded(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'QuotaExceededError';
}

/**
 * Checks the browser's estimate of free storage, then reserves it: the estimate is unreliable (Chromium's is always 10 GiB).
 *
 * @param take Reserves the storage; throws StorageQuotaError if there is less.
 * @throws StorageQuotaError with the number of bytes needed.
 */
export async function requireRoom(neededBytes: number, take: () => void): Promise<void> {
  const { quota = Infinity, usage = 0 } = await navigator.storage.estimate();
  if (neededBytes > quota - usage) throw tooLittleStorage(neededBytes);
  try {
    take();
  } catch (error) {
    throw error instanceof StorageQuotaError ? tooLittleStorage(neededBytes, error) : error;
  }
}
