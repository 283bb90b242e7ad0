import { outputsOfBlock } from './cache';
import { planeTotals } from './int8-planes';
import { fourRows, twoRows, wordTotals } from './int8-words';
import { gather, scatter } from './lanes';
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
    if (!ASC_FEATURE_RELAXED_SIMD && r + 2 === rows) {
      twoRows(
        quantized + <usize>r * rowBytes,
        rowBytes,
        codes,
        scales,
        bias,
        out + <usize>r * outBytes,
        outBytes,
        inputs,
        block,
        blockEnd,
      );
      r = rows;
    }
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

/** Tiles of four outputs that are a quarter of the range apart, as in `dots`. */
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
  const apart = (end - first + 3) >> 2;
  const last = end - 1;
  for (let o0 = first; o0 < first + apart; o0++) {
    const o1 = min(o0 + apart, last);
    const o2 = min(o1 + apart, last);
    const o3 = min(o2 + apart, last);
    const w0 = codes + <usize>o0 * inputs;
    const w1 = codes + <usize>o1 * inputs;
    const w2 = codes + <usize>o2 * inputs;
    const w3 = codes + <usize>o3 * inputs;
    const at0 = <usize>o0 << 2;
    const at1 = <usize>o1 << 2;
    const at2 = <usize>o2 << 2;
    const at3 = <usize>o3 << 2;
    const total = ASC_FEATURE_RELAXED_SIMD
      ? planeTotals(record, w0, w1, w2, w3, inputs, gather(sums + at0, sums + at1, sums + at2, sums + at3))
      : wordTotals(record, w0, w1, w2, w3, inputs);
    let v = f32x4.mul(total, gather(scales + at0, scales + at1, scales + at2, scales + at3));
    v = f32x4.mul(v, rowScale);
    if (bias) v = f32x4.add(v, gather(bias + at0, bias + at1, bias + at2, bias + at3));
    scatter(v, out + at0, out + at1, out + at2, out + at3);
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
