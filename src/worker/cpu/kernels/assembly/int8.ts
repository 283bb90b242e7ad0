import { fetchRows, outputsOfBlock } from './cache';
import { planeTotals } from './int8-planes';
import { fourRows, wordTotals } from './int8-words';
import { loadLanes, storeLanes } from './lanes';
import { recordBytes } from './quantized-rows';

export function multiplyInt8(
  quantized: usize,
  codes: usize,
  scales: usize,
  sums: usize,
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
  const step = outputsOfBlock(inputs);
  for (let block = first; block < end; block += step) {
    const blockEnd = min(block + step, end);
    fetchRows(codes + <usize>block * inputs, inputs, blockEnd - block);
    let r = 0;
    // Codes are made int16 once for four rows. With relaxed SIMD there is nothing to share.
    if (!ASC_FEATURE_RELAXED_SIMD)
      for (; r + 3 <= rows; r += 4)
        fourRows(
          quantized + <usize>r * rowBytes,
          rowBytes,
          codes,
          scales,
          bias,
          out + <usize>r * outBytes,
          outBytes,
          min(rows - r, 4),
          inputs,
          block,
          blockEnd,
        );
    for (; r < rows; r++)
      oneRow(
        quantized + <usize>r * rowBytes,
        codes,
        scales,
        sums,
        bias,
        out + <usize>r * outBytes,
        inputs,
        block,
        blockEnd,
      );
  }
}

/** Tiles of four outputs. Where fewer are left, the last one's weights are read several times. */
function oneRow(
  record: usize,
  codes: usize,
  scales: usize,
  sums: usize,
  bias: usize,
  out: usize,
  inputs: i32,
  first: i32,
  end: i32,
): void {
  const rowScale = v128.load32_splat(record);
  const last = codes + <usize>(end - 1) * inputs;
  for (let o = first; o < end; o += 4) {
    const w0 = codes + <usize>o * inputs;
    const w1 = min(w0 + inputs, last);
    const w2 = min(w1 + inputs, last);
    const w3 = min(w2 + inputs, last);
    const at = <usize>o << 2;
    const count = end - o;
    const total = ASC_FEATURE_RELAXED_SIMD
      ? planeTotals(record, w0, w1, w2, w3, inputs, loadLanes(sums + at, count))
      : wordTotals(record, w0, w1, w2, w3, inputs);
    let v = f32x4.mul(f32x4.mul(total, loadLanes(scales + at, count)), rowScale);
    if (bias) v = f32x4.add(v, loadLanes(bias + at, count));
    storeLanes(out + at, v, count);
  }
}

export function embedInt8(codes: usize, scales: usize, ids: usize, out: usize, rows: i32, width: i32): void {
  for (let r = 0; r < rows; r++) {
    const id = <usize>load<i32>(ids + (<usize>r << 2));
    const row = codes + id * width;
    const to = out + (<usize>r * width << 2);
    const scale = load<f32>(scales + (id << 2));
    for (let i: usize = 0; i < <usize>width; i++) store<f32>(to + (i << 2), scale * <f32>load<i8>(row + i));
  }
}
