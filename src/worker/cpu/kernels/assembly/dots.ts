import { outputsOfBlock } from './cache';
import { gather, scatter, sumLanes } from './lanes';

/** Bytes of a row of which four stay in the first cache while weights pass by. */
const SHORT_ROW: usize = 4096;

/**
 * out[r, o] = Σ x[r, i] · w[o, i] + bias[o]. Strides in bytes. Each sum is four sums of every fourth product, in the order of inputs;
 * then these; then the products that are left over. No tile changes that.
 */
export function multiplyRows(
  x: usize,
  xStride: usize,
  w: usize,
  wStride: usize,
  bias: usize,
  out: usize,
  outStride: usize,
  rows: i32,
  inputs: i32,
  first: i32,
  end: i32,
): void {
  const rowBytes = <usize>inputs << 2;
  const step = outputsOfBlock(rowBytes);
  for (let block = first; block < end; block += step) {
    const blockEnd = min(block + step, end);
    let r = 0;
    if (rowBytes <= SHORT_ROW)
      for (; r + 3 <= rows; r += 4)
        fourRows(
          x + <usize>r * xStride,
          xStride,
          w,
          wStride,
          bias,
          out + <usize>r * outStride,
          outStride,
          min(rows - r, 4),
          inputs,
          block,
          blockEnd,
        );
    for (; r < rows; r++)
      oneRow(x + <usize>r * xStride, w, wStride, bias, out + <usize>r * outStride, inputs, block, blockEnd);
  }
}

/**
 * Tiles of eight outputs that are an eighth of the range apart. So a processor sees eight long streams of weights, and fetches them in
 * time by itself: twice as fast as tiles of neighbors. Streams that end early read their last weights again.
 */
function oneRow(
  x: usize,
  w: usize,
  wStride: usize,
  bias: usize,
  out: usize,
  inputs: i32,
  first: i32,
  end: i32,
): void {
  const whole = <usize>(inputs & ~3) << 2;
  const apart = (end - first + 7) >> 3;
  const last = end - 1;
  for (let o0 = first; o0 < first + apart; o0++) {
    const o1 = min(o0 + apart, last);
    const o2 = min(o1 + apart, last);
    const o3 = min(o2 + apart, last);
    const o4 = min(o3 + apart, last);
    const o5 = min(o4 + apart, last);
    const o6 = min(o5 + apart, last);
    const o7 = min(o6 + apart, last);
    const w0 = w + <usize>o0 * wStride;
    const w1 = w + <usize>o1 * wStride;
    const w2 = w + <usize>o2 * wStride;
    const w3 = w + <usize>o3 * wStride;
    const w4 = w + <usize>o4 * wStride;
    const w5 = w + <usize>o5 * wStride;
    const w6 = w + <usize>o6 * wStride;
    const w7 = w + <usize>o7 * wStride;
    let a0 = f32x4.splat(0);
    let a1 = f32x4.splat(0);
    let a2 = f32x4.splat(0);
    let a3 = f32x4.splat(0);
    let a4 = f32x4.splat(0);
    let a5 = f32x4.splat(0);
    let a6 = f32x4.splat(0);
    let a7 = f32x4.splat(0);
    for (let i: usize = 0; i < whole; i += 16) {
      const v = v128.load(x + i);
      a0 = f32x4.add(a0, f32x4.mul(v, v128.load(w0 + i)));
      a1 = f32x4.add(a1, f32x4.mul(v, v128.load(w1 + i)));
      a2 = f32x4.add(a2, f32x4.mul(v, v128.load(w2 + i)));
      a3 = f32x4.add(a3, f32x4.mul(v, v128.load(w3 + i)));
      a4 = f32x4.add(a4, f32x4.mul(v, v128.load(w4 + i)));
      a5 = f32x4.add(a5, f32x4.mul(v, v128.load(w5 + i)));
      a6 = f32x4.add(a6, f32x4.mul(v, v128.load(w6 + i)));
      a7 = f32x4.add(a7, f32x4.mul(v, v128.load(w7 + i)));
    }
    let a = sumLanes(a0, a1, a2, a3);
    let b = sumLanes(a4, a5, a6, a7);
    for (let i = whole; i < <usize>inputs << 2; i += 4) {
      const v = v128.load32_splat(x + i);
      a = f32x4.add(a, f32x4.mul(v, gather(w0 + i, w1 + i, w2 + i, w3 + i)));
      b = f32x4.add(b, f32x4.mul(v, gather(w4 + i, w5 + i, w6 + i, w7 + i)));
    }
    storeSums(out, b, bias, o4, o5, o6, o7);
    storeSums(out, a, bias, o0, o1, o2, o3);
  }
}

@inline
function storeSums(out: usize, sums: v128, bias: usize, a: i32, b: i32, c: i32, d: i32): void {
  const at0 = <usize>a << 2;
  const at1 = <usize>b << 2;
  const at2 = <usize>c << 2;
  const at3 = <usize>d << 2;
  const v = bias ? f32x4.add(sums, gather(bias + at0, bias + at1, bias + at2, bias + at3)) : sums;
  scatter(v, out + at0, out + at1, out + at2, out + at3);
}

/**
 * As `oneRow`, with tiles of two outputs.
 *
 * @param rows 4, or 3: then the last one is read twice.
 */
function fourRows(
  x: usize,
  xStride: usize,
  w: usize,
  wStride: usize,
  bias: usize,
  out: usize,
  outStride: usize,
  rows: i32,
  inputs: i32,
  first: i32,
  end: i32,
): void {
  const whole = <usize>(inputs & ~3) << 2;
  const x1 = x + xStride;
  const x2 = x1 + xStride;
  const x3 = rows > 3 ? x2 + xStride : x2;
  const apart = (end - first + 1) >> 1;
  for (let o0 = first; o0 < first + apart; o0++) {
    const o1 = min(o0 + apart, end - 1);
    const weights0 = w + <usize>o0 * wStride;
    const weights1 = w + <usize>o1 * wStride;
    let w0 = weights0;
    let w1 = weights1;
    let a0 = f32x4.splat(0);
    let a1 = f32x4.splat(0);
    let a2 = f32x4.splat(0);
    let a3 = f32x4.splat(0);
    let b0 = f32x4.splat(0);
    let b1 = f32x4.splat(0);
    let b2 = f32x4.splat(0);
    let b3 = f32x4.splat(0);
    let p0 = x;
    let p1 = x1;
    let p2 = x2;
    let p3 = x3;
    for (const stop = x + (whole & ~31); p0 < stop; ) {
      let v0 = v128.load(w0);
      let v1 = v128.load(w1);
      let v = v128.load(p0);
      a0 = f32x4.add(a0, f32x4.mul(v, v0));
      b0 = f32x4.add(b0, f32x4.mul(v, v1));
      v = v128.load(p1);
      a1 = f32x4.add(a1, f32x4.mul(v, v0));
      b1 = f32x4.add(b1, f32x4.mul(v, v1));
      v = v128.load(p2);
      a2 = f32x4.add(a2, f32x4.mul(v, v0));
      b2 = f32x4.add(b2, f32x4.mul(v, v1));
      v = v128.load(p3);
      a3 = f32x4.add(a3, f32x4.mul(v, v0));
      b3 = f32x4.add(b3, f32x4.mul(v, v1));
      v0 = v128.load(w0, 16);
      v1 = v128.load(w1, 16);
      v = v128.load(p0, 16);
      a0 = f32x4.add(a0, f32x4.mul(v, v0));
      b0 = f32x4.add(b0, f32x4.mul(v, v1));
      v = v128.load(p1, 16);
      a1 = f32x4.add(a1, f32x4.mul(v, v0));
      b1 = f32x4.add(b1, f32x4.mul(v, v1));
      v = v128.load(p2, 16);
      a2 = f32x4.add(a2, f32x4.mul(v, v0));
      b2 = f32x4.add(b2, f32x4.mul(v, v1));
      v = v128.load(p3, 16);
      a3 = f32x4.add(a3, f32x4.mul(v, v0));
      b3 = f32x4.add(b3, f32x4.mul(v, v1));
      w0 += 32;
      w1 += 32;
      p0 += 32;
      p1 += 32;
      p2 += 32;
      p3 += 32;
    }
    if (whole & 16) {
      const v0 = v128.load(w0);
      const v1 = v128.load(w1);
      let v = v128.load(p0);
      a0 = f32x4.add(a0, f32x4.mul(v, v0));
      b0 = f32x4.add(b0, f32x4.mul(v, v1));
      v = v128.load(p1);
      a1 = f32x4.add(a1, f32x4.mul(v, v0));
      b1 = f32x4.add(b1, f32x4.mul(v, v1));
      v = v128.load(p2);
      a2 = f32x4.add(a2, f32x4.mul(v, v0));
      b2 = f32x4.add(b2, f32x4.mul(v, v1));
      v = v128.load(p3);
      a3 = f32x4.add(a3, f32x4.mul(v, v0));
      b3 = f32x4.add(b3, f32x4.mul(v, v1));
    }
    let a = sumLanes(a0, a1, a2, a3);
    let b = sumLanes(b0, b1, b2, b3);
    for (let i = whole; i < <usize>inputs << 2; i += 4) {
      const v = gather(x + i, x1 + i, x2 + i, x3 + i);
      a = f32x4.add(a, f32x4.mul(v, v128.load32_splat(weights0 + i)));
      b = f32x4.add(b, f32x4.mul(v, v128.load32_splat(weights1 + i)));
    }
    const at0 = <usize>o0 << 2;
    const at1 = <usize>o1 << 2;
    storeColumn(out + at0, outStride, bias ? f32x4.add(a, v128.load32_splat(bias + at0)) : a, rows);
    storeColumn(out + at1, outStride, bias ? f32x4.add(b, v128.load32_splat(bias + at1)) : b, rows);
  }
}

/** One output of three or four rows. */
@inline
export function storeColumn(at: usize, stride: usize, v: v128, rows: i32): void {
  store<f32>(at, f32x4.extract_lane(v, 0));
  store<f32>(at + stride, f32x4.extract_lane(v, 1));
  store<f32>(at + 2 * stride, f32x4.extract_lane(v, 2));
  if (rows > 3) store<f32>(at + 3 * stride, f32x4.extract_lane(v, 3));
}
