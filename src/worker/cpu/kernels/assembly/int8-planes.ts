import { demote, highHalf, sumIntegerLanes } from './lanes';
import { integersOf, lowerPlaneOf, SAFE_INPUTS } from './quantized-rows';

/** Σ integers · codes of four outputs, of two planes of 7 bits. Rounded once to fp32, as in `wordTotals`. */
@inline
export function planeTotals(record: usize, w0: usize, w1: usize, w2: usize, w3: usize, inputs: i32, sums: v128): v128 {
  let upper = integersOf(record);
  let lower = lowerPlaneOf(record, inputs);
  let a0 = i32x4.splat(0);
  let a1 = i32x4.splat(0);
  let a2 = i32x4.splat(0);
  let a3 = i32x4.splat(0);
  let b0 = i32x4.splat(0);
  let b1 = i32x4.splat(0);
  let b2 = i32x4.splat(0);
  let b3 = i32x4.splat(0);
  for (const end = w0 + inputs; w0 < end; ) {
    let u = v128.load(upper);
    let l = v128.load(lower);
    let w = v128.load(w0);
    a0 = dot(w, u, a0);
    b0 = dot(w, l, b0);
    w = v128.load(w1);
    a1 = dot(w, u, a1);
    b1 = dot(w, l, b1);
    w = v128.load(w2);
    a2 = dot(w, u, a2);
    b2 = dot(w, l, b2);
    w = v128.load(w3);
    a3 = dot(w, u, a3);
    b3 = dot(w, l, b3);
    u = v128.load(upper, 16);
    l = v128.load(lower, 16);
    w = v128.load(w0, 16);
    a0 = dot(w, u, a0);
    b0 = dot(w, l, b0);
    w = v128.load(w1, 16);
    a1 = dot(w, u, a1);
    b1 = dot(w, l, b1);
    w = v128.load(w2, 16);
    a2 = dot(w, u, a2);
    b2 = dot(w, l, b2);
    w = v128.load(w3, 16);
    a3 = dot(w, u, a3);
    b3 = dot(w, l, b3);
    upper += 32;
    lower += 32;
    w0 += 32;
    w1 += 32;
    w2 += 32;
    w3 += 32;
  }
  const a = sumIntegerLanes(a0, a1, a2, a3);
  const b = sumIntegerLanes(b0, b1, b2, b3);
  if (inputs <= SAFE_INPUTS) {
    const offset = i32x4.shl(sums, 13);
    return f32x4.convert_i32x4_s(i32x4.sub(i32x4.add(i32x4.shl(a, 7), b), offset));
  }
  return demote(joinPlanes(a, b, sums), joinPlanes(highHalf(a), highHalf(b), highHalf(sums)));
}

/** Only exact where the second operand is 0 to 127. */
@inline
function dot(codes: v128, plane: v128, sum: v128): v128 {
  return i32x4.relaxed_dot_i8x16_i7x16_add_s(codes, plane, sum);
}

/** 128 · upper + lower - 8192 · sums, of the first two lanes, exactly. */
@inline
function joinPlanes(upper: v128, lower: v128, sums: v128): v128 {
  const high = f64x2.mul(f64x2.convert_low_i32x4_s(upper), f64x2.splat(128));
  const joined = f64x2.add(high, f64x2.convert_low_i32x4_s(lower));
  return f64x2.sub(joined, f64x2.mul(f64x2.convert_low_i32x4_s(sums), f64x2.splat(8192)));
}
