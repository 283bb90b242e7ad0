import { loadLanes, storeLanes } from './lanes';

/** As `rotate` of a checkpoint, in fp32. In place where `out` is `x`. */
export function rotateRow(x: usize, out: usize, width: i32, rotation: i32): void {
  const bytes = <usize>width << 2;
  const size = <usize>rotation << 2;
  let half: usize = 4;
  if (size >= 16) {
    turnFours(x, out, bytes);
    half = 16;
  } else if (x != out) memory.copy(out, x, bytes);
  for (; half << 1 < size; half <<= 2)
    for (let first: usize = 0; first < bytes; first += half << 2) turnQuarters(out + first, half);
  for (; half < size; half <<= 1)
    for (let first: usize = 0; first < bytes; first += 2 * half)
      if (half < 16) turnPairs(out + first, half);
      else turnHalves(out + first, half);
  const factor = <f32>1 / sqrt<f32>(<f32>rotation);
  for (let i: usize = 0; i < bytes; i += 16) {
    const count = <i32>((bytes - i) >> 2);
    storeLanes(out + i, f32x4.mul(loadLanes(out + i, count), f32x4.splat(factor)), count);
  }
}

/** The first two steps, of each four values. */
@inline
function turnFours(x: usize, out: usize, bytes: usize): void {
  for (let i: usize = 0; i < bytes; i += 16) {
    let v = v128.load(x + i);
    let second = f32x4.mul(v128.shuffle<f32>(v, v, 1, 1, 3, 3), f32x4(1, -1, 1, -1));
    v = f32x4.add(v128.shuffle<f32>(v, v, 0, 0, 2, 2), second);
    second = f32x4.mul(v128.shuffle<f32>(v, v, 2, 3, 2, 3), f32x4(1, 1, -1, -1));
    v128.store(out + i, f32x4.add(v128.shuffle<f32>(v, v, 0, 1, 0, 1), second));
  }
}

/** Two steps at once. */
@inline
function turnQuarters(x: usize, half: usize): void {
  for (const end = x + half; x < end; x += 16) {
    const a = v128.load(x);
    const b = v128.load(x + half);
    const c = v128.load(x + (half << 1));
    const d = v128.load(x + (half << 1) + half);
    const sum = f32x4.add(a, b);
    const difference = f32x4.sub(a, b);
    const otherSum = f32x4.add(c, d);
    const otherDifference = f32x4.sub(c, d);
    v128.store(x, f32x4.add(sum, otherSum));
    v128.store(x + half, f32x4.add(difference, otherDifference));
    v128.store(x + (half << 1), f32x4.sub(sum, otherSum));
    v128.store(x + (half << 1) + half, f32x4.sub(difference, otherDifference));
  }
}

@inline
function turnPairs(x: usize, half: usize): void {
  for (let i: usize = 0; i < half; i += 4) {
    const a = load<f32>(x + i);
    const b = load<f32>(x + i + half);
    store<f32>(x + i, a + b);
    store<f32>(x + i + half, a - b);
  }
}

@inline
function turnHalves(x: usize, half: usize): void {
  for (let i: usize = 0; i < half; i += 16) {
    const a = v128.load(x + i);
    const b = v128.load(x + i + half);
    v128.store(x + i, f32x4.add(a, b));
    v128.store(x + i + half, f32x4.sub(a, b));
  }
}

export function rotate(x: usize, out: usize, rows: i32, width: i32, rotation: i32): void {
  const bytes = <usize>width << 2;
  for (let r = 0; r < rows; r++)
    rotateRow(x + <usize>r * bytes, out + <usize>r * bytes, width, rotation);
}
