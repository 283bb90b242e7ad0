/** A file with synchronous reads and writes, such as `FileSystemSyncAccessHandle` of OPFS. */
export interface SyncFile {
  getSize(): number;
  /** @returns The number of bytes read; fewer than asked for at the end of the file. */
  read(target: Uint8Array<ArrayBuffer>, options: { readonly at: number }): number;
  /** Writes everything or throws. */
  write(source: Uint8Array, options: { readonly at: number }): number;
  truncate(size: number): void;
  flush(): void;
  close(): void;
}
