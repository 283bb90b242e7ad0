import type { SyncFile } from './sync-file.ts';

/** A file that is only in memory. */
export class MemoryFile implements SyncFile {
  #buffer = new Uint8Array();
  #size = 0;

  getSize(): number {
    return this.#size;
  }

  read(target: Uint8Array<ArrayBuffer>, { at }: { readonly at: number }): number {
    const source = this.#buffer.subarray(at, Math.min(at + target.byteLength, this.#size));
    target.set(source);
    return source.byteLength;
  }

  write(source: Uint8Array, { at }: { readonly at: number }): number {
    this.truncate(Math.max(this.#size, at + source.byteLength));
    this.#buffer.set(source, at);
    return source.byteLength;
  }

  truncate(size: number): void {
    // What is cut off is not to come back as the file grows again.
    if (size < this.#size) this.#buffer.fill(0, size, this.#size);
    if (size > this.#buffer.byteLength) {
      // Twice as much each time: a file that grows is copied a few times only.
      const larger = new Uint8Array(Math.max(size, 2 * this.#buffer.byteLength));
      larger.set(this.#buffer);
      this.#buffer = larger;
    }
    this.#size = size;
  }

  flush(): void {
    // It is in memory.
  }

  close(): void {
    // Whoever held it drops it.
  }
}
