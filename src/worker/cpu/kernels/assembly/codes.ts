import { largestOf } from './lanes';
import { rotateRow } from './rotation';

/** The largest code. */
const LARGEST: f32 = 127;

export function requantizeRows(
  codes: usize,
  blockScales: usize,
  zeroPoints: usize,
  scales: usize,
  sums: usize,
  rows: i32,
  inputs: i32,
  rotation: i32,
  scratch: usize,
): void {
  const numBlocks = <usize>inputs >> 5;
  for (let r: usize = 0; r < <usize>rows; r++) {
    const row = codes + r * inputs;
    for (let block: usize = 0; block < numBlocks; block++) {
      const at = r * numBlocks + block;
      const zero = i16x8.splat(load<u8>(zeroPoints + at));
      const scale = v128.load32_splat(blockScales + (at << 2));
      dequantize(row + (block << 5), zero, scale, scratch + (block << 7));
      dequantize(row + (block << 5) + 16, zero, scale, scratch + (block << 7) + 64);
    }
    rotateRow(scratch, scratch, inputs, rotation);
    const peak = largestOf(scratch, inputs);
    store<f32>(scales + (r << 2), peak / LARGEST);
    const inverse = f32x4.splat(peak < 1e-30 ? 0 : LARGEST / peak);
    for (let i: usize = 0; i < <usize>inputs; i += 16) quantize(scratch + (i << 2), inverse, row + i);
  }
  sumCodes(codes, sums, rows, inputs);
}

/** 16 values. */
@inline
function dequantize(codes: usize, zero: v128, scale: v128, out: usize): void {
  const low = i16x8.sub(v128.load8x8_u(codes), zero);
  const high = i16x8.sub(v128.load8x8_u(codes, 8), zero);
  v128.store(out, f32x4.mul(f32x4.convert_i32x4_s(i32x4.extend_low_i16x8_s(low)), scale));
  v128.store(out, f32x4.mul(f32x4.convert_i32x4_s(i32x4.extend_high_i16x8_s(low)), scale), 16);
  v128.store(out, f32x4.mul(f32x4.convert_i32x4_s(i32x4.extend_low_i16x8_s(high)), scale), 32);
  v128.store(out, f32x4.mul(f32x4.convert_i32x4_s(i32x4.extend_high_i16x8_s(high)), scale), 48);
}

/** 16 values. */
@inline
function quantize(x: usize, inverse: v128, codes: usize): void {
  const a = i16x8.narrow_i32x4_s(rounded(v128.load(x), inverse), rounded(v128.load(x, 16), inverse));
  const b = i16x8.narrow_i32x4_s(rounded(v128.load(x, 32), inverse), rounded(v128.load(x, 48), inverse));
  v128.store(codes, i8x16.narrow_i16x8_s(a, b));
}

/** 1.5 · 2²³: behind it, fp32 has whole numbers alone, so a sum with it is rounded as `nearest` does. */
const WHOLE: f32 = 12582912;

/** The integers of small values: fewer instructions than a conversion that has to think of NaN and of large ones. */
@inline
function rounded(v: v128, inverse: v128): v128 {
  const whole = f32x4.splat(WHOLE);
  return i32x4.sub(f32x4.add(f32x4.mul(v, inverse), whole), whole);
}

export function sumCodes(codes: usize, sums: usize, outputs: i32, inputs: i32): void {
  for (let o = 0; o < outputs; o++) {
    const row = codes + <usize>o * inputs;
    const whole = <usize>inputs & ~15;
    let sum = i32x4.splat(0);
    for (let i: usize = 0; i < whole; i += 16) {
      const pairs = i16x8.extadd_pairwise_i8x16_s(v128.load(row + i));
      sum = i32x4.add(sum, i32x4.extadd_pairwise_i16x8_s(pairs));
    }
    sum = i32x4.add(sum, v128.shuffle<i32>(sum, sum, 2, 3, 0, 1));
    let total = i32x4.extract_lane(sum, 0) + i32x4.extract_lane(sum, 1);
    for (let i = whole; i < <usize>inputs; i++) total += load<i8>(row + i);
    store<i32>(sums + (<usize>o << 2), total);
  }
}
