import { loadLanes, storeLanes } from './lanes';

export function rotary(
  x: usize,
  xStride: i32,
  positions: usize,
  cos: usize,
  sin: usize,
  rows: i32,
  heads: i32,
  headStride: i32,
  half: i32,
): void {
  for (let r = 0; r < rows; r++) {
    const angles = <usize>load<i32>(positions + (<usize>r << 2)) * (<usize>half << 2);
    for (let h = 0; h < heads; h++)
      turnHead(x + (<usize>(r * xStride + h * headStride) << 2), cos + angles, sin + angles, half);
  }
}

@inline
function turnHead(x: usize, cos: usize, sin: usize, half: i32): void {
  const second = x + (<usize>half << 2);
  for (let i = 0; i < half; i += 4) {
    const at = <usize>i << 2;
    const count = half - i;
    const a = loadLanes(x + at, count);
    const b = loadLanes(second + at, count);
    const c = loadLanes(cos + at, count);
    const s = loadLanes(sin + at, count);
    storeLanes(x + at, f32x4.sub(f32x4.mul(a, c), f32x4.mul(b, s)), count);
    storeLanes(second + at, f32x4.add(f32x4.mul(b, c), f32x4.mul(a, s)), count);
  }
}

export function storeHeads(
  x: usize,
  xStride: i32,
  out: usize,
  headStride: i32,
  positionStride: i32,
  tokens: i32,
  heads: i32,
  headSize: i32,
): void {
  const bytes = <usize>headSize << 2;
  for (let t = 0; t < tokens; t++)
    for (let h = 0; h < heads; h++)
      memory.copy(
        out + (<usize>(h * headStride + t * positionStride) << 2),
        x + (<usize>(t * xStride + h * headSize) << 2),
        bytes,
      );
}
