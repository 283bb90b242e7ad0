import { fetchRows, outputsOfBlock } from './cache';
import { loadLanes, storeLanes } from './lanes';

/**
 * out[r, :] += Σ shares[r, p] · values[p, :] for positions `first` to `end`, in their order. Strides in bytes. The sums of a block of
 * positions wait in `out` for the next one.
 */
export function mixRows(
  shares: usize,
  shareStride: usize,
  values: usize,
  stride: usize,
  out: usize,
  outStride: usize,
  rows: i32,
  first: i32,
  end: i32,
  width: i32,
): void {
  const rowBytes = <usize>width << 2;
  const step = outputsOfBlock(rowBytes);
  for (; first < end; first += step) {
    const count = min(step, end - first);
    const from = values + <usize>first * stride;
    const block = shares + (<usize>first << 2);
    if (stride == rowBytes) fetchRows(from, rowBytes, count);
    if (rows > 2) addFourRows(block, shareStride, from, stride, out, outStride, rows, count, width & ~7);
    else
      for (let r = 0; r < rows; r++)
        addRow(block + <usize>r * shareStride, from, stride, out + <usize>r * outStride, count, width & ~7);
    if (width & 7) addRest(block, shareStride, from, stride, out, outStride, rows, count, width);
  }
}

/** @param rows 4, or 3: then the last one is read twice. */
function addFourRows(
  shares: usize,
  shareStride: usize,
  values: usize,
  stride: usize,
  out: usize,
  outStride: usize,
  rows: i32,
  count: i32,
  width: i32,
): void {
  const second = shareStride;
  const third = 2 * shareStride;
  const fourth = rows > 3 ? 3 * shareStride : third;
  const end = shares + (<usize>count << 2);
  for (let i: usize = 0; i < <usize>width << 2; i += 32) {
    const out0 = out + i;
    const out1 = out0 + outStride;
    const out2 = out1 + outStride;
    const out3 = rows > 3 ? out2 + outStride : out2;
    let a0 = v128.load(out0);
    let b0 = v128.load(out0, 16);
    let a1 = v128.load(out1);
    let b1 = v128.load(out1, 16);
    let a2 = v128.load(out2);
    let b2 = v128.load(out2, 16);
    let a3 = v128.load(out3);
    let b3 = v128.load(out3, 16);
    let at = values + i;
    for (let p = shares; p < end; p += 4) {
      const v = v128.load(at);
      const w = v128.load(at, 16);
      let share = v128.load32_splat(p);
      a0 = f32x4.add(a0, f32x4.mul(share, v));
      b0 = f32x4.add(b0, f32x4.mul(share, w));
      share = v128.load32_splat(p + second);
      a1 = f32x4.add(a1, f32x4.mul(share, v));
      b1 = f32x4.add(b1, f32x4.mul(share, w));
      share = v128.load32_splat(p + third);
      a2 = f32x4.add(a2, f32x4.mul(share, v));
      b2 = f32x4.add(b2, f32x4.mul(share, w));
      share = v128.load32_splat(p + fourth);
      a3 = f32x4.add(a3, f32x4.mul(share, v));
      b3 = f32x4.add(b3, f32x4.mul(share, w));
      at += stride;
    }
    v128.store(out0, a0);
    v128.store(out0, b0, 16);
    v128.store(out1, a1);
    v128.store(out1, b1, 16);
    v128.store(out2, a2);
    v128.store(out2, b2, 16);
    v128.store(out3, a3);
    v128.store(out3, b3, 16);
  }
}

function addRow(shares: usize, values: usize, stride: usize, out: usize, count: i32, width: i32): void {
  const end = shares + (<usize>count << 2);
  for (let i: usize = 0; i < <usize>width << 2; i += 32) {
    let a = v128.load(out + i);
    let b = v128.load(out + i, 16);
    let at = values + i;
    for (let p = shares; p < end; p += 4) {
      const share = v128.load32_splat(p);
      a = f32x4.add(a, f32x4.mul(share, v128.load(at)));
      b = f32x4.add(b, f32x4.mul(share, v128.load(at, 16)));
      at += stride;
    }
    v128.store(out + i, a);
    v128.store(out + i, b, 16);
  }
}

/** The columns behind the last whole eight. */
function addRest(
  shares: usize,
  shareStride: usize,
  values: usize,
  stride: usize,
  out: usize,
  outStride: usize,
  rows: i32,
  count: i32,
  width: i32,
): void {
  for (let i = width & ~7; i < width; i += 4)
    for (let r = 0; r < rows; r++) {
      const to = out + <usize>r * outStride + (<usize>i << 2);
      let sum = loadLanes(to, width - i);
      for (let p = 0; p < count; p++) {
        const share = v128.load32_splat(shares + <usize>r * shareStride + (<usize>p << 2));
        const v = loadLanes(values + <usize>p * stride + (<usize>i << 2), width - i);
        sum = f32x4.add(sum, f32x4.mul(share, v));
      }
      storeLanes(to, sum, width - i);
    }
}
