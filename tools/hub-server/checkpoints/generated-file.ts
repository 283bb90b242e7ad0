/** A file whose bytes follow from a rule, in part or whole: nothing is stored. */
export interface GeneratedFile {
  readonly size: number;
  /** @returns The bytes from `begin` to `end`, exclusive. */
  read(begin: number, end: number): Uint8Array<ArrayBuffer>;
}

export function fileOf(content: Uint8Array | string): GeneratedFile {
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
  return {
    size: bytes.byteLength,
    read: (begin, end) => new Uint8Array(bytes.subarray(begin, end)),
  };
}

export function jsonFile(value: unknown): GeneratedFile {
  return fileOf(JSON.stringify(value));
}
