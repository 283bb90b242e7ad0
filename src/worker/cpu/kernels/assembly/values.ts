import { normalShare, sigmoid, tanh } from './functions';
import { loadLanes, storeLanes } from './lanes';

/** As `ACTIVATION_KINDS` numbers them. */
const enum Kind {
  Relu,
  Silu,
  GeluTanh,
  GeluErf,
  QuickGelu,
  Tanh,
  Sigmoid,
}

export function activate(
  x: usize,
  xStride: i32,
  out: usize,
  outStride: i32,
  rows: i32,
  width: i32,
  kind: i32,
): void {
  for (let r = 0; r < rows; r++)
    for (let i = 0; i < width; i += 4) {
      const v = loadLanes(x + ((<usize>(r * xStride + i)) << 2), width - i);
      storeLanes(out + ((<usize>(r * outStride + i)) << 2), activated(v, kind), width - i);
    }
}

function activated(x: v128, kind: i32): v128 {
  if (kind == Kind.Relu) return f32x4.max(x, f32x4.splat(0));
  if (kind == Kind.Silu) return f32x4.mul(x, sigmoid(x));
  if (kind == Kind.GeluTanh) {
    // x · (1 + tanh(u)) / 2 is x · sigmoid(2u), which loses no bits where tanh is near -1.
    const cube = f32x4.mul(f32x4.mul(x, x), x);
    const u = f32x4.add(x, f32x4.mul(cube, f32x4.splat(0.044715)));
    return f32x4.mul(x, sigmoid(f32x4.mul(u, f32x4.splat(1.5957691216))));
  }
  if (kind == Kind.GeluErf) return f32x4.mul(x, normalShare(x));
  if (kind == Kind.QuickGelu) return f32x4.mul(x, sigmoid(f32x4.mul(x, f32x4.splat(1.702))));
  return kind == Kind.Tanh ? tanh(x) : sigmoid(x);
}

export function combine(
  a: usize,
  aStride: i32,
  b: usize,
  bStride: i32,
  out: usize,
  outStride: i32,
  rows: i32,
  width: i32,
  isProduct: i32,
): void {
  for (let r = 0; r < rows; r++)
    for (let i = 0; i < width; i += 4) {
      const v = loadLanes(a + ((<usize>(r * aStride + i)) << 2), width - i);
      const w = loadLanes(b + ((<usize>(r * bStride + i)) << 2), width - i);
      const result = isProduct ? f32x4.mul(v, w) : f32x4.add(v, w);
      storeLanes(out + ((<usize>(r * outStride + i)) << 2), result, width - i);
    }
}

export function scale(
  x: usize,
  xStride: i32,
  out: usize,
  outStride: i32,
  rows: i32,
  width: i32,
  factor: f32,
): void {
  for (let r = 0; r < rows; r++)
    for (let i = 0; i < width; i += 4) {
      const v = loadLanes(x + ((<usize>(r * xStride + i)) << 2), width - i);
      storeLanes(out + ((<usize>(r * outStride + i)) << 2), f32x4.mul(v, f32x4.splat(factor)), width - i);
    }
}

export function pool(x: usize, xStride: i32, shares: usize, out: usize, tokens: i32, width: i32): void {
  for (let i = 0; i < width; i += 4) {
    let sum = f32x4.splat(0);
    for (let t = 0; t < tokens; t++) {
      const share = load<f32>(shares + ((<usize>t) << 2));
      // A product with 0 would be NaN where a token has Infinity.
      if (share == 0) continue;
      const v = loadLanes(x + ((<usize>(t * xStride + i)) << 2), width - i);
      sum = f32x4.add(sum, f32x4.mul(v, f32x4.splat(share)));
    }
    storeLanes(out + ((<usize>i) << 2), sum, width - i);
  }
}

export function embedFloat(table: usize, ids: usize, out: usize, rows: i32, width: i32): void {
  const bytes = (<usize>width) << 2;
  for (let r = 0; r < rows; r++)
    memory.copy(out + <usize>r * bytes, table + <usize>load<i32>(ids + ((<usize>r) << 2)) * bytes, bytes);
}
