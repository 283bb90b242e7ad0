import { loadLanes, storeLanes, sumOf } from './lanes';

export function normalize(
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
  isCentered: i32,
): void {
  for (let r = 0; r < rows; r++)
    for (let part = 0; part < parts; part++) {
      const from = x + (<usize>(r * xStride + part * width) << 2);
      const to = out + (<usize>(r * outStride + part * width) << 2);
      const mean: f32 = isCentered ? sumOfValues(from, width) / <f32>width : 0;
      const squares = sumOfSquares(from, width, mean);
      if (squares < f32.MAX_VALUE) {
        const factor: f32 = <f32>1 / sqrt<f32>(squares / <f32>width + epsilon);
        scaleRow(from, to, gain, bias, width, mean, factor, gainOffset);
      } else normalizeInDouble(from, to, gain, bias, width, epsilon, gainOffset, isCentered);
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
function scaleRow(
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

/** For rows whose squares have no sum in fp32. Those with Infinity or NaN get NaN where float64 has it. */
function normalizeInDouble(
  x: usize,
  out: usize,
  gain: usize,
  bias: usize,
  width: i32,
  epsilon: f32,
  gainOffset: f32,
  isCentered: i32,
): void {
  const end = x + (<usize>width << 2);
  let mean: f64 = 0;
  if (isCentered) for (let at = x; at < end; at += 4) mean += <f64>load<f32>(at) / width;
  let squares: f64 = 0;
  for (let at = x; at < end; at += 4) squares += (<f64>load<f32>(at) - mean) * (<f64>load<f32>(at) - mean);
  const root = sqrt<f64>(squares / width + epsilon);
  for (let i: usize = 0; i < <usize>width << 2; i += 4) {
    const v = ((<f64>load<f32>(x + i) - mean) / root) * <f64>(load<f32>(gain + i) + gainOffset);
    store<f32>(out + i, <f32>(bias ? v + load<f32>(bias + i) : v));
  }
}
