import { loadLanes, storeLanes } from './lanes';

export function shortConv(
  x: usize,
  xStride: i32,
  state: usize,
  weights: usize,
  bias: usize,
  out: usize,
  outStride: i32,
  tokens: i32,
  width: i32,
  length: i32,
): void {
  const past = length - 1;
  for (let i = 0; i < width; i += 4) {
    const count = width - i;
    const first = bias ? loadLanes(bias + (<usize>i << 2), count) : f32x4.splat(0);
    for (let t = 0; t < tokens; t++) storeLanes(out + (<usize>(t * outStride + i) << 2), first, count);
    for (let tap = 0; tap < length; tap++) {
      const factors = column(weights + (<usize>(i * length + tap) << 2), <usize>length << 2, count);
      for (let t = 0; t < tokens; t++) {
        const from = t + tap - past;
        let v = f32x4.splat(0);
        if (from >= 0) v = loadLanes(x + (<usize>(from * xStride + i) << 2), count);
        else if (state) v = loadLanes(state + (<usize>((from + past) * width + i) << 2), count);
        const at = out + (<usize>(t * outStride + i) << 2);
        storeLanes(at, f32x4.add(loadLanes(at, count), f32x4.mul(v, factors)), count);
      }
    }
  }
  if (!state) return;
  const bytes = <usize>width << 2;
  for (let p = 0; p < past; p++) {
    const from = p + tokens - past;
    const source = from >= 0 ? x + (<usize>(from * xStride) << 2) : state + <usize>(from + past) * bytes;
    memory.copy(state + <usize>p * bytes, source, bytes);
  }
}

/** The first `count` of four values, one in each row. */
@inline
function column(at: usize, stride: usize, count: i32): v128 {
  let v = v128.load32_zero(at);
  if (count > 1) v = f32x4.replace_lane(v, 1, load<f32>(at + stride));
  if (count > 2) v = f32x4.replace_lane(v, 2, load<f32>(at + 2 * stride));
  if (count > 3) v = f32x4.replace_lane(v, 3, load<f32>(at + 3 * stride));
  return v;
}
