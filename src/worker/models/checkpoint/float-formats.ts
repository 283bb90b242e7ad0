/** The dtypes of safetensors that weights may be stored in. */
export type FloatDtype = 'F32' | 'F16' | 'BF16';

const F16_SUBNORMAL_UNIT = 2 ** -24;
const LARGEST_F16_BITS = 0x7bff;
const scratch = new Float32Array(1);
const scratchBits = new Uint32Array(scratch.buffer);

/** Decodes little-endian values exactly, infinities and NaN included. F32 may share the buffer. */
export function readFloats(bytes: Uint8Array<ArrayBuffer>, dtype: FloatDtype): Float32Array<ArrayBuffer> {
  // Typed arrays have to start at multiples of their elements' size.
  if (bytes.byteOffset !== 0) return readFloats(new Uint8Array(bytes), dtype);
  if (dtype === 'F32') return new Float32Array(bytes.buffer, 0, bytes.byteLength / 4);
  const halves = new Uint16Array(bytes.buffer, 0, bytes.byteLength / 2);
  const values = new Float32Array(halves.length);
  const bits = new Uint32Array(values.buffer);
  for (let i = 0; i < halves.length; i++) {
    const half = halves[i] ?? 0;
    bits[i] = dtype === 'BF16' ? half << 16 : float32BitsOf(half);
  }
  return values;
}

/** Rounds to nearest, ties to even. Values too large for fp16 become its largest value. */
export function toFloat16(values: Float32Array): Uint16Array<ArrayBuffer> {
  const bits = new Uint32Array(values.buffer, values.byteOffset, values.length);
  const halves = new Uint16Array(values.length);
  for (let i = 0; i < halves.length; i++) halves[i] = float16BitsOf(bits[i] ?? 0);
  return halves;
}

/** The nearest value that fp16 can store. */
export function roundToFloat16(value: number): number {
  scratch[0] = value;
  scratchBits[0] = float32BitsOf(float16BitsOf(scratchBits[0] ?? 0));
  return scratch[0];
}

function float32BitsOf(half: number): number {
  const sign = (half & 0x8000) << 16;
  const exponent = (half >> 10) & 0x1f;
  const fraction = half & 0x3ff;
  if (exponent === 0x1f) return sign | 0x7f800000 | (fraction << 13);
  if (exponent !== 0) return sign | ((exponent + 112) << 23) | (fraction << 13);
  scratch[0] = fraction * F16_SUBNORMAL_UNIT;
  return sign | (scratchBits[0] ?? 0);
}

function float16BitsOf(bits: number): number {
  const sign = (bits >>> 16) & 0x8000;
  const magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return sign | 0x7e00;
  if (magnitude === 0x7f800000) return sign | 0x7c00;
  if (magnitude >= 0x38800000) {
    // A normal number: add half of the last place, one less where the last place is even.
    const rounded = (magnitude - 0x38000000 + 0xfff + ((magnitude >>> 13) & 1)) >>> 13;
    return sign | Math.min(rounded, LARGEST_F16_BITS);
  }
  scratchBits[0] = magnitude;
  return sign | roundHalfEven((scratch[0] ?? 0) / F16_SUBNORMAL_UNIT);
}

function roundHalfEven(value: number): number {
  const floor = Math.floor(value);
  const rest = value - floor;
  return rest > 0.5 || (rest === 0.5 && floor % 2 === 1) ? floor + 1 : floor;
}
