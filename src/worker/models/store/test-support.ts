import { MemoryFile } from '../../../platform/memory-file.ts';
import type { SyncFile } from '../../../platform/sync-file.ts';

/** A file of OPFS, in memory. */
export class OpfsFile extends MemoryFile {
  isOpen = false;

  get bytes(): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(this.getSize());
    super.read(bytes, { at: 0 });
    return bytes;
  }

  /** Not counted as a read or a write of the code under test. */
  copyFrom({ bytes }: OpfsFile): void {
    super.write(bytes, { at: 0 });
  }

  override close(): void {
    this.isOpen = false;
  }
}

/** A folder of OPFS, in memory: as much of one as the store asks for. */
export class MemoryFolder {
  readonly kind = 'directory';
  readonly name: string;
  readonly #entries = new Map<string, MemoryFolder | MemoryFileHandle>();
  #isGone = false;

  constructor(name = '') {
    this.name = name;
  }

  /** What the user's "clear site data" does to the root: handles of folders in it are of no use any more. */
  clear(): void {
    for (const entry of this.#entries.values()) {
      if (entry instanceof MemoryFolder) {
        entry.clear();
        entry.#isGone = true;
      }
    }
    this.#entries.clear();
  }

  getDirectoryHandle(name: string, { create = false } = {}): Promise<MemoryFolder> {
    return this.#get(name, MemoryFolder, create);
  }

  getFileHandle(name: string, { create = false } = {}): Promise<MemoryFileHandle> {
    return this.#get(name, MemoryFileHandle, create);
  }

  removeEntry(name: string): Promise<void> {
    return this.#entries.delete(name) ? Promise.resolve() : Promise.reject(notFound(name));
  }

  /** What a crash at this moment leaves: nothing is open. */
  clone(): MemoryFolder {
    const copy = new MemoryFolder(this.name);
    for (const [name, entry] of this.#entries) copy.#entries.set(name, entry.clone());
    return copy;
  }

  async *values(): AsyncGenerator<MemoryFolder | MemoryFileHandle> {
    if (this.#isGone) throw notFound(this.name);
    yield* this.#entries.values();
  }

  async #get<Entry extends MemoryFolder | MemoryFileHandle>(
    name: string,
    EntryClass: new (name: string) => Entry,
    create: boolean,
  ): Promise<Entry> {
    if (this.#isGone) throw notFound(this.name);
    const known = this.#entries.get(name);
    if (known instanceof EntryClass) return known;
    if (!create) throw notFound(name);
    const made = new EntryClass(name);
    this.#entries.set(name, made);
    return made;
  }
}

class MemoryFileHandle {
  readonly kind = 'file';
  readonly name: string;
  readonly #file = new OpfsFile();

  constructor(name: string) {
    this.name = name;
  }

  clone(): MemoryFileHandle {
    const copy = new MemoryFileHandle(this.name);
    copy.#file.copyFrom(this.#file);
    return copy;
  }

  getFile(): Promise<File> {
    return Promise.resolve(new File([this.#file.bytes], this.name));
  }

  createSyncAccessHandle(): Promise<SyncFile> {
    if (this.#file.isOpen) {
      return Promise.reject(new DOMException(`${this.name} is open.`, 'NoModificationAllowedError'));
    }
    this.#file.isOpen = true;
    return Promise.resolve(this.#file);
  }
}

function notFound(name: string): DOMException {
  return new DOMException(`There is no ${name}.`, 'NotFoundError');
}
