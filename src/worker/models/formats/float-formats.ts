import { decodeBlocks, isBlockDtype, type BlockDtype } from './block-formats.ts';

/** The formats that weights may be stored in. */
export type WeightDtype = 'F32' | 'F16' | 'BF16' | BlockDtype;

export function isWeightDtype(dtype: string): dtype is WeightDtype {
  return dtype === 'F32' || dtype === 'F16' || dtype === 'BF16' || isBlockDtype(dtype);
}

const LARGEST_F16 = 65_504;

/** Decodes little-endian values or whole blocks exactly, infinities and NaN included. F32 may share the buffer. */
export function readFloats(bytes: Uint8Array<ArrayBuffer>, dtype: WeightDtype): Float32Array<ArrayBuffer> {
  if (isBlockDtype(dtype)) return decodeBlocks(bytes, dtype);
  // Typed arrays have to start at multiples of their elements' size.
  if (bytes.byteOffset !== 0) return readFloats(new Uint8Array(bytes), dtype);
  if (dtype === 'F32') return new Float32Array(bytes.buffer, 0, bytes.byteLength / 4);
  if (dtype === 'F16') return new Float32Array(new Float16Array(bytes.buffer, 0, bytes.byteLength / 2));
  // A bf16 is the upper half of an fp32.
  const halves = new Uint16Array(bytes.buffer, 0, bytes.byteLength / 2);
  const bits = new Uint32Array(halves.length);
  for (let i = 0; i < bits.length; i++) bits[i] = (halves[i] ?? 0) << 16;
  return new Float32Array(bits.buffer);
}

/** The bits of the nearest fp16 values; ties to even. Values too large for fp16 become its largest value. */
export function toFloat16(values: Float32Array): Uint16Array<ArrayBuffer> {
  const halves = new Float16Array(values.length);
  for (let i = 0; i < halves.length; i++) halves[i] = withinFloat16(values[i] ?? 0);
  return new Uint16Array(halves.buffer);
}

function withinFloat16(value: number): number {
  return Number.isFinite(value) ? Math.min(Math.max(value, -LARGEST_F16), LARGEST_F16) : value;
}
