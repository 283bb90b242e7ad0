import { notTextFile, otherEncoding, unreadableFile, utf32File, workbookFile } from './file-errors.ts';

/** One task decodes and parses a chunk, within a few milliseconds. */
const CHUNK_BYTES = 2 ** 18;

/** The text of a file in chunks, with the line ends of Unix. Chunks are read as they are taken. */
export async function* readText(file: File): AsyncGenerator<string> {
  let decode: ((bytes: Uint8Array | undefined) => string) | undefined;
  let heldBack = '';
  for (let offset = 0; offset < file.size; offset += CHUNK_BYTES) {
    const bytes = await readBytes(file, offset);
    decode ??= createDecoder(file.name, bytes);
    const text = heldBack + decode(bytes);
    // It may be the first half of a line end.
    heldBack = text.endsWith('\r') ? '\r' : '';
    yield withUnixLines(text.slice(0, text.length - heldBack.length));
  }
  yield withUnixLines(heldBack + (decode?.(undefined) ?? ''));
}

async function readBytes(file: File, offset: number): Promise<Uint8Array> {
  try {
    return new Uint8Array(await file.slice(offset, offset + CHUNK_BYTES).arrayBuffer());
  } catch (cause) {
    throw unreadableFile(file.name, cause);
  }
}

function withUnixLines(text: string): string {
  return text.includes('\r') ? text.replaceAll(/\r\n?/g, '\n') : text;
}

/** Decodes chunk after chunk; undefined ends the text. */
function createDecoder(name: string, start: Uint8Array): (bytes: Uint8Array | undefined) => string {
  const encoding = encodingOf(name, start);
  const decoder = new TextDecoder(encoding, { fatal: true });
  let numLines = 1;
  return (bytes) => {
    try {
      const text = decoder.decode(bytes, { stream: bytes !== undefined });
      numLines += countLineEnds(text);
      return text;
    } catch {
      const [valid = ''] = new TextDecoder(encoding).decode(bytes).split('\uFFFD', 1);
      throw otherEncoding(name, encoding.toUpperCase(), numLines + countLineEnds(valid));
    }
  };
}

/** By the byte order mark, which the decoder removes. */
function encodingOf(name: string, start: Uint8Array): 'utf-8' | 'utf-16le' | 'utf-16be' {
  const [first, second] = start;
  const hasZeros = start.subarray(2).includes(0);
  if (hasPrefix(start, [0xff, 0xfe, 0, 0]) || hasPrefix(start, [0, 0, 0xfe, 0xff])) throw utf32File(name);
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  if (first === 0x50 && second === 0x4b && hasZeros) throw workbookFile(name);
  if (first === 0 || second === 0 || hasZeros) throw notTextFile(name);
  return 'utf-8';
}

function hasPrefix(bytes: Uint8Array, prefix: readonly number[]): boolean {
  return prefix.every((byte, at) => bytes[at] === byte);
}

export function countLineEnds(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}
