import type { GeneratedFile } from './generated-file.ts';
import { BYTES_PER_ELEMENT, countElements, readTensor, type GeneratedTensor } from './generated-tensor.ts';

const LENGTH_BYTES = 8;

interface PlacedTensor {
  readonly tensor: GeneratedTensor;
  readonly begin: number;
  readonly end: number;
}

/**
 * A safetensors file of these tensors, one after the other.
 *
 * @param headerLength Of the JSON in bytes; it is padded with spaces, as the format allows.
 */
export function safetensorsFile(tensors: readonly GeneratedTensor[], headerLength?: number): GeneratedFile {
  const places = placeAfter(0, tensors);
  const entries = places.map(({ tensor: { name, dtype, shape }, begin, end }) => [
    name,
    { dtype, shape, data_offsets: [begin, end] },
  ]);
  const json = JSON.stringify(Object.fromEntries(entries));
  const header = new TextEncoder().encode(json.padEnd(headerLength ?? json.length));
  const dataStart = LENGTH_BYTES + header.byteLength;
  const start = new Uint8Array(dataStart);
  new DataView(start.buffer).setBigUint64(0, BigInt(header.byteLength), true);
  start.set(header, LENGTH_BYTES);
  const placed = placeAfter(dataStart, tensors);
  return {
    size: placed.at(-1)?.end ?? dataStart,
    read: (begin, end) => readParts(start, placed, begin, end),
  };
}

function placeAfter(start: number, tensors: readonly GeneratedTensor[]): readonly PlacedTensor[] {
  let end = start;
  return tensors.map((tensor) => {
    const begin = end;
    end += countElements(tensor) * BYTES_PER_ELEMENT[tensor.dtype];
    return { tensor, begin, end };
  });
}

function readParts(
  start: Uint8Array,
  placed: readonly PlacedTensor[],
  begin: number,
  end: number,
): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(end - begin);
  if (begin < start.byteLength) bytes.set(start.subarray(begin, end));
  for (const place of placed) {
    const [from, to] = [Math.max(begin, place.begin), Math.min(end, place.end)];
    if (from >= to) continue;
    bytes.set(readTensor(place.tensor, from - place.begin, to - place.begin), from - begin);
  }
  return bytes;
}
