import { fetchRows, outputsOfBlock } from './cache';
import { loadLanes, storeLanes, sumLanes } from './lanes';

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
    if (wStride == rowBytes) fetchRows(w + <usize>block * rowBytes, rowBytes, blockEnd - block);
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

/** Tiles of eight outputs. Where fewer are left, the last one's weights are read several times. */
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
  const last = w + <usize>(end - 1) * wStride;
  for (let o = first; o < end; o += 8) {
    const w0 = w + <usize>o * wStride;
    const w1 = min(w0 + wStride, last);
    const w2 = min(w1 + wStride, last);
    const w3 = min(w2 + wStride, last);
    const w4 = min(w3 + wStride, last);
    const w5 = min(w4 + wStride, last);
    const w6 = min(w5 + wStride, last);
    const w7 = min(w6 + wStride, last);
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
    const at = <usize>o << 2;
    storeSums(out + at, a, bias, at, end - o);
    if (o + 4 < end) storeSums(out + at + 16, b, bias, at + 16, end - o - 4);
  }
}

@inline
function storeSums(out: usize, sums: v128, bias: usize, at: usize, count: i32): void {
  storeLanes(out, bias ? f32x4.add(sums, loadLanes(bias + at, count)) : sums, count);
}

@inline
function gather(a: usize, b: usize, c: usize, d: usize): v128 {
  const ab = f32x4.replace_lane(v128.load32_zero(a), 1, load<f32>(b));
  return f32x4.replace_lane(f32x4.replace_lane(ab, 2, load<f32>(c)), 3, load<f32>(d));
}

/** @param rows 4, or 3: then the last one is read twice. */
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
  for (let o = first; o < end; o += 2) {
    const w0 = w + <usize>o * wStride;
    const w1 = o + 1 < end ? w0 + wStride : w0;
    let a0 = f32x4.splat(0);
    let a1 = f32x4.splat(0);
    let a2 = f32x4.splat(0);
    let a3 = f32x4.splat(0);
    let b0 = f32x4.splat(0);
    let b1 = f32x4.splat(0);
    let b2 = f32x4.splat(0);
    let b3 = f32x4.splat(0);
    for (let i: usize = 0; i < whole; i += 16) {
      const v0 = v128.load(w0 + i);
      const v1 = v128.load(w1 + i);
      let v = v128.load(x + i);
      a0 = f32x4.add(a0, f32x4.mul(v, v0));
      b0 = f32x4.add(b0, f32x4.mul(v, v1));
      v = v128.load(x1 + i);
      a1 = f32x4.add(a1, f32x4.mul(v, v0));
      b1 = f32x4.add(b1, f32x4.mul(v, v1));
      v = v128.load(x2 + i);
      a2 = f32x4.add(a2, f32x4.mul(v, v0));
      b2 = f32x4.add(b2, f32x4.mul(v, v1));
      v = v128.load(x3 + i);
      a3 = f32x4.add(a3, f32x4.mul(v, v0));
      b3 = f32x4.add(b3, f32x4.mul(v, v1));
    }
    let a = sumLanes(a0, a1, a2, a3);
    let b = sumLanes(b0, b1, b2, b3);
    for (let i = whole; i < <usize>inputs << 2; i += 4) {
      const v = gather(x + i, x1 + i, x2 + i, x3 + i);
      a = f32x4.add(a, f32x4.mul(v, v128.load32_splat(w0 + i)));
      b = f32x4.add(b, f32x4.mul(v, v128.load32_splat(w1 + i)));
    }
    const at = <usize>o << 2;
    storeColumn(out + at, outStride, bias ? f32x4.add(a, v128.load32_splat(bias + at)) : a, rows);
    if (o + 1 == end) return;
    storeColumn(out + at + 4, outStride, bias ? f32x4.add(b, v128.load32_splat(bias + at + 4)) : b, rows);
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
