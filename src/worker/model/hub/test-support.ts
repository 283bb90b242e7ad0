import type { SyncFile } from './sync-file.ts';

/** A file of OPFS, in memory. */
export class MemoryFile implements SyncFile {
  bytes = new Uint8Array();
  isOpen = true;

  getSize(): number {
    return this.bytes.byteLength;
  }

  read(target: Uint8Array<ArrayBuffer>, { at }: { readonly at: number }): number {
    const source = this.bytes.subarray(at, at + target.byteLength);
    target.set(source);
    return source.byteLength;
  }

  write(source: Uint8Array, { at }: { readonly at: number }): number {
    const end = at + source.byteLength;
    if (end > this.bytes.byteLength) this.truncate(end);
    this.bytes.set(source, at);
    return source.byteLength;
  }

  truncate(size: number): void {
    const bytes = new Uint8Array(size);
    bytes.set(this.bytes.subarray(0, size));
    this.bytes = bytes;
  }

  flush(): void {
    // It is in memory.
  }

  close(): void {
    this.isOpen = false;
  }
}
