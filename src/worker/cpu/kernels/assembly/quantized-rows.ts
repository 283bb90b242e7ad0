import { largestOf, loadLanes } from './lanes';
import { rotateRow } from './rotation';

/**
 * A quantized row: its scale, then integers of 14 bits for its values, padded with what adds nothing to a sum. For 4 bits the sums of
 * each 32 of them follow, in fp32, padded with zeros to a multiple of four. With relaxed SIMD the integers are in two planes of 7
 * bits, else in int16.
 */
const HEADER: usize = 16;

/** The largest integer. */
const LARGEST: f32 = 8191;

/** Makes an integer positive, and its upper plane 0 to 127. */
const OFFSET: i32 = 8192;

/** Inputs whose products with int8 sum up to an int32 in any case: 8191 · 128 · 2048 < 2³¹. */
export const SAFE_INPUTS: i32 = 2048;

/** The values of a row that is as long as whole blocks of 32. */
@inline
export function paddedInputs(inputs: i32): usize {
  return <usize>((inputs + 31) & ~31);
}

@inline
export function recordBytes(inputs: i32): usize {
  return HEADER + (paddedInputs(inputs) / 2) * 5;
}

/** The upper plane, or the int16. */
@inline
export function integersOf(record: usize): usize {
  return record + HEADER;
}

@inline
export function lowerPlaneOf(record: usize, inputs: i32): usize {
  return record + HEADER + paddedInputs(inputs);
}

@inline
export function blockSumsOf(record: usize, inputs: i32): usize {
  return record + HEADER + 2 * paddedInputs(inputs);
}

export function quantizeForInt8(
  x: usize,
  xStride: i32,
  quantized: usize,
  rows: i32,
  inputs: i32,
  rotation: i32,
  scratch: usize,
): void {
  for (let r = 0; r < rows; r++) {
    let row = x + (<usize>r * <usize>xStride << 2);
    const record = quantized + <usize>r * recordBytes(inputs);
    if (rotation > 1) {
      rotateRow(row, scratch, inputs, rotation);
      row = scratch;
    }
    const inverse = writeScale(row, record, inputs);
    const target = integersOf(record);
    for (let i = 0; i < <i32>paddedInputs(inputs); i += 16) {
      const at = row + (<usize>i << 2);
      const left = inputs - i;
      const a = integers(loadLanesOrNone(at, left), inverse);
      const b = integers(loadLanesOrNone(at + 16, left - 4), inverse);
      const c = integers(loadLanesOrNone(at + 32, left - 8), inverse);
      const d = integers(loadLanesOrNone(at + 48, left - 12), inverse);
      if (ASC_FEATURE_RELAXED_SIMD) {
        const offset = i32x4.splat(OFFSET);
        storePlanes(
          target + i,
          target + paddedInputs(inputs) + i,
          i32x4.add(a, offset),
          i32x4.add(b, offset),
          i32x4.add(c, offset),
          i32x4.add(d, offset),
        );
      } else {
        v128.store(target + 2 * i, i16x8.narrow_i32x4_s(a, b));
        v128.store(target + 2 * i, i16x8.narrow_i32x4_s(c, d), 16);
      }
    }
    // A 0 has the offset in its upper plane.
    if (ASC_FEATURE_RELAXED_SIMD) memory.fill(target + inputs, 0, paddedInputs(inputs) - inputs);
  }
}

export function quantizeForInt4(x: usize, xStride: i32, quantized: usize, rows: i32, inputs: i32): void {
  for (let r = 0; r < rows; r++) {
    const row = x + (<usize>r * <usize>xStride << 2);
    const record = quantized + <usize>r * recordBytes(inputs);
    const inverse = writeScale(row, record, inputs);
    memory.fill(blockSumsOf(record, inputs), 0, paddedInputs(inputs) / 2);
    for (let i = 0; i < inputs; i += 32) quantizeBlock(row + (<usize>i << 2), record, inputs, i, inverse);
  }
}

/** Orders the integers of a block as `multiplyInt4` takes the codes out of their bytes. */
@inline
function quantizeBlock(at: usize, record: usize, inputs: i32, i: i32, inverse: v128): void {
  const a = integers(v128.load(at), inverse);
  const b = integers(v128.load(at, 16), inverse);
  const c = integers(v128.load(at, 32), inverse);
  const d = integers(v128.load(at, 48), inverse);
  const e = integers(v128.load(at, 64), inverse);
  const f = integers(v128.load(at, 80), inverse);
  const g = integers(v128.load(at, 96), inverse);
  const h = integers(v128.load(at, 112), inverse);
  const target = integersOf(record);
  if (ASC_FEATURE_RELAXED_SIMD) {
    const low = lowerPlaneOf(record, inputs) + i;
    storePlanes(target + i, low, evens(a, b), evens(c, d), evens(e, f), evens(g, h));
    storePlanes(target + i + 16, low + 16, odds(a, b), odds(c, d), odds(e, f), odds(g, h));
  } else {
    const to = target + 2 * i;
    const ab = evens(a, b);
    const cd = evens(c, d);
    const ef = evens(e, f);
    const gh = evens(g, h);
    v128.store(to, i16x8.narrow_i32x4_s(evens(ab, cd), evens(ef, gh)));
    v128.store(to, i16x8.narrow_i32x4_s(odds(ab, cd), odds(ef, gh)), 32);
    const ab1 = odds(a, b);
    const cd1 = odds(c, d);
    const ef1 = odds(e, f);
    const gh1 = odds(g, h);
    v128.store(to, i16x8.narrow_i32x4_s(evens(ab1, cd1), evens(ef1, gh1)), 16);
    v128.store(to, i16x8.narrow_i32x4_s(odds(ab1, cd1), odds(ef1, gh1)), 48);
  }
  const sum = i32x4.add(i32x4.add(i32x4.add(a, b), i32x4.add(c, d)), i32x4.add(i32x4.add(e, f), i32x4.add(g, h)));
  const lanes = i32x4.add(sum, v128.shuffle<i32>(sum, sum, 2, 3, 0, 1));
  const total = i32x4.extract_lane(lanes, 0) + i32x4.extract_lane(lanes, 1);
  store<f32>(blockSumsOf(record, inputs) + (i >> 3), <f32>total);
}

@inline
function evens(a: v128, b: v128): v128 {
  return v128.shuffle<i32>(a, b, 0, 2, 4, 6);
}

@inline
function odds(a: v128, b: v128): v128 {
  return v128.shuffle<i32>(a, b, 1, 3, 5, 7);
}

@inline
function loadLanesOrNone(at: usize, count: i32): v128 {
  return count > 0 ? loadLanes(at, count) : i32x4.splat(0);
}

/** @returns The factor that makes a value its integer. */
function writeScale(row: usize, record: usize, inputs: i32): v128 {
  const peak = largestOf(row, inputs);
  // The inverse of a smaller number is infinite.
  const isZero = peak < 1e-30;
  store<f32>(record, isZero ? 0 : peak / LARGEST);
  return f32x4.splat(isZero ? 0 : LARGEST / peak);
}

@inline
export function integers(v: v128, inverse: v128): v128 {
  return i32x4.trunc_sat_f32x4_s(f32x4.nearest(f32x4.mul(v, inverse)));
}

/** Writes 16 integers as bytes: their upper bits, and their lower 7 bits. */
@inline
function storePlanes(upper: usize, lower: usize, a: v128, b: v128, c: v128, d: v128): void {
  v128.store(
    upper,
    i8x16.narrow_i16x8_s(
      i16x8.narrow_i32x4_s(i32x4.shr_s(a, 7), i32x4.shr_s(b, 7)),
      i16x8.narrow_i32x4_s(i32x4.shr_s(c, 7), i32x4.shr_s(d, 7)),
    ),
  );
  const mask = i32x4.splat(127);
  v128.store(
    lower,
    i8x16.narrow_i16x8_s(
      i16x8.narrow_i32x4_s(v128.and(a, mask), v128.and(b, mask)),
      i16x8.narrow_i32x4_s(v128.and(c, mask), v128.and(d, mask)),
    ),
  );
}
