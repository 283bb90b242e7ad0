/** A file that is read and written at once, at any place; `FileSystemSyncAccessHandle` of OPFS is one. */
export interface SyncFile {
  getSize(): number;
  /** @returns Bytes that were read: fewer than asked for at the end of the file. */
  read(target: Uint8Array<ArrayBuffer>, options: { readonly at: number }): number;
  /** All of it, or it throws. */
  write(source: Uint8Array, options: { readonly at: number }): number;
  truncate(size: number): void;
  flush(): void;
  /** Lets the next one open it. */
  close(): void;
}
