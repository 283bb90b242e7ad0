import { loadLanes, storeLanes, sumOf } from './lanes';

export function rmsNorm(
  x: usize,
  xStride: i32,
  gain: usize,
  out: usize,
  outStride: i32,
  rows: i32,
  parts: i32,
  width: i32,
  epsilon: f32,
  gainOffset: f32,
): void {
  for (let r = 0; r < rows; r++)
    for (let part = 0; part < parts; part++) {
      const from = x + (<usize>(r * xStride + part * width) << 2);
      const to = out + (<usize>(r * outStride + part * width) << 2);
      const factor: f32 = <f32>1 / sqrt<f32>(sumOfSquares(from, width, 0) / <f32>width + epsilon);
      normalize(from, to, gain, 0, width, 0, factor, gainOffset);
    }
}

export function layerNorm(
  x: usize,
  xStride: i32,
  gain: usize,
  bias: usize,
  out: usize,
  outStride: i32,
  rows: i32,
  parts: i32,
  width: i32,
  epsilon: f32,
  gainOffset: f32,
): void {
  for (let r = 0; r < rows; r++)
    for (let part = 0; part < parts; part++) {
      const from = x + (<usize>(r * xStride + part * width) << 2);
      const to = out + (<usize>(r * outStride + part * width) << 2);
      const mean = sumOfValues(from, width) / <f32>width;
      const factor: f32 = <f32>1 / sqrt<f32>(sumOfSquares(from, width, mean) / <f32>width + epsilon);
      normalize(from, to, gain, bias, width, mean, factor, gainOffset);
    }
}

function sumOfValues(x: usize, width: i32): f32 {
  let sum = f32x4.splat(0);
  for (let i = 0; i < width; i += 4) sum = f32x4.add(sum, loadLanes(x + (<usize>i << 2), width - i));
  return sumOf(sum);
}

/** Σ (x - mean)² */
function sumOfSquares(x: usize, width: i32, mean: f32): f32 {
  let sum = f32x4.splat(0);
  const whole = width & ~3;
  for (let i = 0; i < whole; i += 4) {
    const v = f32x4.sub(v128.load(x + (<usize>i << 2)), f32x4.splat(mean));
    sum = f32x4.add(sum, f32x4.mul(v, v));
  }
  let total = sumOf(sum);
  for (let i = whole; i < width; i++) {
    const v = load<f32>(x + (<usize>i << 2)) - mean;
    total += v * v;
  }
  return total;
}

@inline
function normalize(
  x: usize,
  out: usize,
  gain: usize,
  bias: usize,
  width: i32,
  mean: f32,
  factor: f32,
  gainOffset: f32,
): void {
  for (let i = 0; i < width; i += 4) {
    const at = <usize>i << 2;
    const count = width - i;
    const centered = f32x4.sub(loadLanes(x + at, count), f32x4.splat(mean));
    const gains = f32x4.add(loadLanes(gain + at, count), f32x4.splat(gainOffset));
    let v = f32x4.mul(f32x4.mul(centered, f32x4.splat(factor)), gains);
    if (bias) v = f32x4.add(v, loadLanes(bias + at, count));
    storeLanes(out + at, v, count);
  }
}
