import { outputsOfBlock } from './cache';
import { storeColumn } from './dots';
import { loadLanes, sumLanes, sumOf } from './lanes';
import { blockSumsOf, integersOf, paddedInputs, recordBytes } from './quantized-rows';

export function multiplyInt4(
  quantized: usize,
  codes: usize,
  scales: usize,
  zeroPoints: usize,
  bias: usize,
  out: usize,
  outStride: i32,
  rows: i32,
  inputs: i32,
  first: i32,
  end: i32,
): void {
  const rowBytes = recordBytes(inputs);
  const outBytes = <usize>outStride << 2;
  const codeBytes = <usize>inputs >> 1;
  const scaleBytes = <usize>inputs >> 3;
  const zeroBytes = zeroPointBytes(inputs);
  const step = outputsOfBlock(codeBytes);
  for (let block = first; block < end; block += step) {
    const blockEnd = min(block + step, end);
    for (let r = 0; r < rows; ) {
      const record = quantized + <usize>r * rowBytes;
      const to = out + <usize>r * outBytes;
      const count = rows - r < 3 ? 1 : min(rows - r, 4);
      for (let o = block; o < blockEnd; o++) {
        const at = <usize>o << 2;
        const weights = codes + <usize>o * codeBytes;
        const weightScales = scales + <usize>o * scaleBytes;
        if (count == 1) store<f32>(to + at, sumOf(sumsOfRow(record, weights, weightScales, inputs)));
        else storeSumsOfRows(record, rowBytes, count, weights, weightScales, inputs, to + at, outBytes);
        for (let i = 0; i < count; i++) {
          const cell = to + <usize>i * outBytes + at;
          const row = record + <usize>i * rowBytes;
          const zero = zeroOfBlocks(row, weightScales, zeroPoints + <usize>o * zeroBytes, inputs);
          const v = (load<f32>(cell) - zero) * load<f32>(row);
          store<f32>(cell, bias ? v + load<f32>(bias + at) : v);
        }
      }
      r += count;
    }
  }
}

@inline
function zeroPointBytes(inputs: i32): usize {
  return <usize>((inputs + 63) >> 6);
}

/** 15 in each lane. The compiler doesn't know that: it would make the constant again for each block. */
@inline
function lowHalves(inputs: i32): v128 {
  return ASC_FEATURE_RELAXED_SIMD ? i8x16.splat(<i8>(15 | (inputs & 31))) : i16x8.splat(<i16>(15 | (inputs & 31)));
}

/** Σ scales · (integers · codes), in fp32 and in the order of blocks. A lane has the eighth of each block that is next to it. */
@inline
function sumsOfRow(record: usize, codes: usize, scales: usize, inputs: i32): v128 {
  const mask = lowHalves(inputs);
  let at = integersOf(record);
  const planes = paddedInputs(inputs);
  let sum = f32x4.splat(0);
  for (const end = codes + (<usize>inputs >> 1); codes < end; codes += 16) {
    const block = v128.load(codes);
    const scale = v128.load32_splat(scales);
    if (ASC_FEATURE_RELAXED_SIMD) {
      sum = addPlanes(sum, at, planes, v128.and(block, mask), i8x16.shr_u(block, 4), scale);
      at += 32;
    } else {
      const b = v128.and(i16x8.shr_u(block, 4), mask);
      const c = v128.and(i16x8.shr_u(block, 8), mask);
      sum = addWords(sum, at, v128.and(block, mask), b, c, i16x8.shr_u(block, 12), scale);
      at += 64;
    }
    scales += 4;
  }
  return sum;
}

/** As `sumsOfRow`, of three or four rows, for which codes are taken out of their bytes once. */
@inline
function storeSumsOfRows(
  record: usize,
  rowBytes: usize,
  rows: i32,
  codes: usize,
  scales: usize,
  inputs: i32,
  out: usize,
  outStride: usize,
): void {
  const mask = lowHalves(inputs);
  let at = integersOf(record);
  const planes = paddedInputs(inputs);
  const third = 2 * rowBytes;
  const fourth = rows > 3 ? 3 * rowBytes : third;
  let sum0 = f32x4.splat(0);
  let sum1 = f32x4.splat(0);
  let sum2 = f32x4.splat(0);
  let sum3 = f32x4.splat(0);
  for (const end = codes + (<usize>inputs >> 1); codes < end; codes += 16) {
    const block = v128.load(codes);
    const scale = v128.load32_splat(scales);
    if (ASC_FEATURE_RELAXED_SIMD) {
      const even = v128.and(block, mask);
      const odd = i8x16.shr_u(block, 4);
      sum0 = addPlanes(sum0, at, planes, even, odd, scale);
      sum1 = addPlanes(sum1, at + rowBytes, planes, even, odd, scale);
      sum2 = addPlanes(sum2, at + third, planes, even, odd, scale);
      sum3 = addPlanes(sum3, at + fourth, planes, even, odd, scale);
      at += 32;
    } else {
      const a = v128.and(block, mask);
      const b = v128.and(i16x8.shr_u(block, 4), mask);
      const c = v128.and(i16x8.shr_u(block, 8), mask);
      const d = i16x8.shr_u(block, 12);
      sum0 = addWords(sum0, at, a, b, c, d, scale);
      sum1 = addWords(sum1, at + rowBytes, a, b, c, d, scale);
      sum2 = addWords(sum2, at + third, a, b, c, d, scale);
      sum3 = addWords(sum3, at + fourth, a, b, c, d, scale);
      at += 64;
    }
    scales += 4;
  }
  storeColumn(out, outStride, sumLanes(sum0, sum1, sum2, sum3), rows);
}

/** A block of a row in two planes of 7 bits. */
@inline
function addPlanes(sum: v128, upper: usize, planes: usize, even: v128, odd: v128, scale: v128): v128 {
  const lower = upper + planes;
  const high = dot(v128.load(upper, 16), odd, dot(v128.load(upper), even, i32x4.splat(0)));
  const low = dot(v128.load(lower, 16), odd, dot(v128.load(lower), even, i32x4.shl(high, 7)));
  return f32x4.add(sum, f32x4.mul(f32x4.convert_i32x4_s(low), scale));
}

/** Only exact where the second operand is 0 to 127: it is the codes. */
@inline
function dot(plane: v128, codes: v128, sum: v128): v128 {
  return i32x4.relaxed_dot_i8x16_i7x16_add_s(plane, codes, sum);
}

/** A block of a row in int16. */
@inline
function addWords(sum: v128, words: usize, a: v128, b: v128, c: v128, d: v128, scale: v128): v128 {
  const ab = i32x4.add(i32x4.dot_i16x8_s(v128.load(words), a), i32x4.dot_i16x8_s(v128.load(words, 16), b));
  const cd = i32x4.add(i32x4.dot_i16x8_s(v128.load(words, 32), c), i32x4.dot_i16x8_s(v128.load(words, 48), d));
  return f32x4.add(sum, f32x4.mul(f32x4.convert_i32x4_s(i32x4.add(ab, cd)), scale));
}

/** Σ scales · zero points · sums of a block's integers, four blocks at a time. */
@inline
function zeroOfBlocks(record: usize, scales: usize, zeroPoints: usize, inputs: i32): f32 {
  let sum = f32x4.splat(0);
  let sums = blockSumsOf(record, inputs);
  for (let left = inputs >> 5; left > 0; left -= 4) {
    const pairs = i32x4.splat(load<u16>(zeroPoints));
    // The four halves of two bytes: each is brought to the top of its lane, and then down.
    const nibbles = v128.and(i32x4(0xf, 0xf0, 0xf00, 0xf000), pairs);
    const zeros = f32x4.mul(f32x4.convert_i32x4_s(nibbles), f32x4(1, 0.0625, 0.00390625, 0.000244140625));
    sum = f32x4.add(sum, f32x4.mul(f32x4.mul(loadLanes(scales, left), zeros), v128.load(sums)));
    sums += 16;
    scales += 16;
    zeroPoints += 2;
  }
  return sumOf(sum);
}

export function embedInt4(
  codes: usize,
  scales: usize,
  zeroPoints: usize,
  ids: usize,
  out: usize,
  rows: i32,
  width: i32,
): void {
  for (let r = 0; r < rows; r++) {
    const id = <usize>load<i32>(ids + (<usize>r << 2));
    const row = codes + ((id * width) >> 1);
    const rowScales = scales + ((id * width) >> 3);
    const zeros = zeroPoints + id * zeroPointBytes(width);
    const to = out + (<usize>r * width << 2);
    for (let i: usize = 0; i < <usize>width; i++) {
      const block = i >> 5;
      const integer = halfAt(row, i) - halfAt(zeros, block);
      store<f32>(to + (i << 2), load<f32>(rowScales + (block << 2)) * <f32>integer);
    }
  }
}

/** The first of two integers is in the lower half of a byte. */
@inline
function halfAt(bytes: usize, index: usize): i32 {
  return (<i32>load<u8>(bytes + (index >> 1)) >> (<i32>(index & 1) << 2)) & 15;
}
