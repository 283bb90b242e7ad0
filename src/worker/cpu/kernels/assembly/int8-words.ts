import { storeColumn } from './dots';
import { demote, gather, highHalf, scatter, sumIntegerLanes } from './lanes';
import { integersOf, SAFE_INPUTS } from './quantized-rows';

/** Σ integers · codes of four outputs, of int16. */
@inline
export function wordTotals(record: usize, w0: usize, w1: usize, w2: usize, w3: usize, inputs: i32): v128 {
  let words = integersOf(record);
  let low = f64x2.splat(0);
  let high = f64x2.splat(0);
  for (let first = 0; first < inputs; first += SAFE_INPUTS) {
    let a0 = i32x4.splat(0);
    let a1 = i32x4.splat(0);
    let a2 = i32x4.splat(0);
    let a3 = i32x4.splat(0);
    for (const end = w0 + min(SAFE_INPUTS, inputs - first); w0 < end; ) {
      let v = v128.load(words);
      let w = v128.load(words, 16);
      a0 = addDot(addDot(a0, v, v128.load8x8_s(w0)), w, v128.load8x8_s(w0, 8));
      a1 = addDot(addDot(a1, v, v128.load8x8_s(w1)), w, v128.load8x8_s(w1, 8));
      a2 = addDot(addDot(a2, v, v128.load8x8_s(w2)), w, v128.load8x8_s(w2, 8));
      a3 = addDot(addDot(a3, v, v128.load8x8_s(w3)), w, v128.load8x8_s(w3, 8));
      v = v128.load(words, 32);
      w = v128.load(words, 48);
      a0 = addDot(addDot(a0, v, v128.load8x8_s(w0, 16)), w, v128.load8x8_s(w0, 24));
      a1 = addDot(addDot(a1, v, v128.load8x8_s(w1, 16)), w, v128.load8x8_s(w1, 24));
      a2 = addDot(addDot(a2, v, v128.load8x8_s(w2, 16)), w, v128.load8x8_s(w2, 24));
      a3 = addDot(addDot(a3, v, v128.load8x8_s(w3, 16)), w, v128.load8x8_s(w3, 24));
      words += 64;
      w0 += 32;
      w1 += 32;
      w2 += 32;
      w3 += 32;
    }
    const sum = sumIntegerLanes(a0, a1, a2, a3);
    if (inputs <= SAFE_INPUTS) return f32x4.convert_i32x4_s(sum);
    low = f64x2.add(low, f64x2.convert_low_i32x4_s(sum));
    high = f64x2.add(high, f64x2.convert_low_i32x4_s(highHalf(sum)));
  }
  return demote(low, high);
}

@inline
function addDot(sum: v128, integers: v128, codes: v128): v128 {
  return i32x4.add(sum, i32x4.dot_i16x8_s(integers, codes));
}

/**
 * As `oneRow` of int8, with tiles of two outputs.
 *
 * @param rows 4, or 3: then the last one is read twice.
 */
export function fourRows(
  record: usize,
  rowBytes: usize,
  codes: usize,
  scales: usize,
  bias: usize,
  out: usize,
  outStride: usize,
  rows: i32,
  inputs: i32,
  first: i32,
  end: i32,
): void {
  const record1 = record + rowBytes;
  const record2 = record1 + rowBytes;
  const record3 = rows > 3 ? record2 + rowBytes : record2;
  const rowScales = f32x4.replace_lane(
    f32x4.replace_lane(
      f32x4.replace_lane(v128.load32_splat(record), 1, load<f32>(record1)),
      2,
      load<f32>(record2),
    ),
    3,
    load<f32>(record3),
  );
  const apart = (end - first + 1) >> 1;
  for (let o0 = first; o0 < first + apart; o0++) {
    const o1 = min(o0 + apart, end - 1);
    let w0 = codes + <usize>o0 * inputs;
    let w1 = codes + <usize>o1 * inputs;
    let p0 = integersOf(record);
    let p1 = integersOf(record1);
    let p2 = integersOf(record2);
    let p3 = integersOf(record3);
    let aLow = f64x2.splat(0);
    let aHigh = f64x2.splat(0);
    let bLow = f64x2.splat(0);
    let bHigh = f64x2.splat(0);
    for (let start = 0; start < inputs; start += SAFE_INPUTS) {
      let a0 = i32x4.splat(0);
      let a1 = i32x4.splat(0);
      let a2 = i32x4.splat(0);
      let a3 = i32x4.splat(0);
      let b0 = i32x4.splat(0);
      let b1 = i32x4.splat(0);
      let b2 = i32x4.splat(0);
      let b3 = i32x4.splat(0);
      for (const stop = w0 + min(SAFE_INPUTS, inputs - start); w0 < stop; ) {
        let x = v128.load8x8_s(w0);
        let y = v128.load8x8_s(w1);
        let v = v128.load(p0);
        a0 = addDot(a0, v, x);
        b0 = addDot(b0, v, y);
        v = v128.load(p1);
        a1 = addDot(a1, v, x);
        b1 = addDot(b1, v, y);
        v = v128.load(p2);
        a2 = addDot(a2, v, x);
        b2 = addDot(b2, v, y);
        v = v128.load(p3);
        a3 = addDot(a3, v, x);
        b3 = addDot(b3, v, y);
        x = v128.load8x8_s(w0, 8);
        y = v128.load8x8_s(w1, 8);
        v = v128.load(p0, 16);
        a0 = addDot(a0, v, x);
        b0 = addDot(b0, v, y);
        v = v128.load(p1, 16);
        a1 = addDot(a1, v, x);
        b1 = addDot(b1, v, y);
        v = v128.load(p2, 16);
        a2 = addDot(a2, v, x);
        b2 = addDot(b2, v, y);
        v = v128.load(p3, 16);
        a3 = addDot(a3, v, x);
        b3 = addDot(b3, v, y);
        w0 += 16;
        w1 += 16;
        p0 += 32;
        p1 += 32;
        p2 += 32;
        p3 += 32;
      }
      const a = sumIntegerLanes(a0, a1, a2, a3);
      const b = sumIntegerLanes(b0, b1, b2, b3);
      aLow = f64x2.add(aLow, f64x2.convert_low_i32x4_s(a));
      aHigh = f64x2.add(aHigh, f64x2.convert_low_i32x4_s(highHalf(a)));
      bLow = f64x2.add(bLow, f64x2.convert_low_i32x4_s(b));
      bHigh = f64x2.add(bHigh, f64x2.convert_low_i32x4_s(highHalf(b)));
    }
    const at0 = <usize>o0 << 2;
    const at1 = <usize>o1 << 2;
    storeColumn(out + at0, outStride, scaled(demote(aLow, aHigh), rowScales, scales, bias, at0), rows);
    storeColumn(out + at1, outStride, scaled(demote(bLow, bHigh), rowScales, scales, bias, at1), rows);
  }
}

/** As `oneRow` of int8, for two rows: codes are made int16 once for both. */
export function twoRows(
  record: usize,
  rowBytes: usize,
  codes: usize,
  scales: usize,
  bias: usize,
  out: usize,
  outStride: usize,
  inputs: i32,
  first: i32,
  end: i32,
): void {
  const record1 = record + rowBytes;
  const scale0 = v128.load32_splat(record);
  const scale1 = v128.load32_splat(record1);
  const apart = (end - first + 3) >> 2;
  const last = end - 1;
  for (let o0 = first; o0 < first + apart; o0++) {
    const o1 = min(o0 + apart, last);
    const o2 = min(o1 + apart, last);
    const o3 = min(o2 + apart, last);
    let w0 = codes + <usize>o0 * inputs;
    let w1 = codes + <usize>o1 * inputs;
    let w2 = codes + <usize>o2 * inputs;
    let w3 = codes + <usize>o3 * inputs;
    let p0 = integersOf(record);
    let p1 = integersOf(record1);
    let aLow = f64x2.splat(0);
    let aHigh = f64x2.splat(0);
    let bLow = f64x2.splat(0);
    let bHigh = f64x2.splat(0);
    for (let start = 0; start < inputs; start += SAFE_INPUTS) {
      let a0 = i32x4.splat(0);
      let a1 = i32x4.splat(0);
      let a2 = i32x4.splat(0);
      let a3 = i32x4.splat(0);
      let b0 = i32x4.splat(0);
      let b1 = i32x4.splat(0);
      let b2 = i32x4.splat(0);
      let b3 = i32x4.splat(0);
      for (const stop = w0 + min(SAFE_INPUTS, inputs - start); w0 < stop; ) {
        let v = v128.load(p0);
        let w = v128.load(p1);
        let x = v128.load8x8_s(w0);
        a0 = addDot(a0, v, x);
        b0 = addDot(b0, w, x);
        x = v128.load8x8_s(w1);
        a1 = addDot(a1, v, x);
        b1 = addDot(b1, w, x);
        x = v128.load8x8_s(w2);
        a2 = addDot(a2, v, x);
        b2 = addDot(b2, w, x);
        x = v128.load8x8_s(w3);
        a3 = addDot(a3, v, x);
        b3 = addDot(b3, w, x);
        v = v128.load(p0, 16);
        w = v128.load(p1, 16);
        x = v128.load8x8_s(w0, 8);
        a0 = addDot(a0, v, x);
        b0 = addDot(b0, w, x);
        x = v128.load8x8_s(w1, 8);
        a1 = addDot(a1, v, x);
        b1 = addDot(b1, w, x);
        x = v128.load8x8_s(w2, 8);
        a2 = addDot(a2, v, x);
        b2 = addDot(b2, w, x);
        x = v128.load8x8_s(w3, 8);
        a3 = addDot(a3, v, x);
        b3 = addDot(b3, w, x);
        w0 += 16;
        w1 += 16;
        w2 += 16;
        w3 += 16;
        p0 += 32;
        p1 += 32;
      }
      const a = sumIntegerLanes(a0, a1, a2, a3);
      const b = sumIntegerLanes(b0, b1, b2, b3);
      aLow = f64x2.add(aLow, f64x2.convert_low_i32x4_s(a));
      aHigh = f64x2.add(aHigh, f64x2.convert_low_i32x4_s(highHalf(a)));
      bLow = f64x2.add(bLow, f64x2.convert_low_i32x4_s(b));
      bHigh = f64x2.add(bHigh, f64x2.convert_low_i32x4_s(highHalf(b)));
    }
    const at0 = <usize>o0 << 2;
    const at1 = <usize>o1 << 2;
    const at2 = <usize>o2 << 2;
    const at3 = <usize>o3 << 2;
    const outputScales = gather(scales + at0, scales + at1, scales + at2, scales + at3);
    let a = f32x4.mul(f32x4.mul(demote(aLow, aHigh), outputScales), scale0);
    let b = f32x4.mul(f32x4.mul(demote(bLow, bHigh), outputScales), scale1);
    if (bias) {
      const biases = gather(bias + at0, bias + at1, bias + at2, bias + at3);
      a = f32x4.add(a, biases);
      b = f32x4.add(b, biases);
    }
    scatter(a, out + at0, out + at1, out + at2, out + at3);
    const out1 = out + outStride;
    scatter(b, out1 + at0, out1 + at1, out1 + at2, out1 + at3);
  }
}

@inline
function scaled(totals: v128, rowScales: v128, scales: usize, bias: usize, at: usize): v128 {
  const v = f32x4.mul(f32x4.mul(totals, v128.load32_splat(scales + at)), rowScales);
  return bias ? f32x4.add(v, v128.load32_splat(bias + at)) : v;
}
