/** As `rotate` of a checkpoint, in fp32: at most 64 values together. In place where `out` is `x`. */
export function rotateRow(x: usize, out: usize, width: i32, rotation: i32): void {
  const end = out + (<usize>width << 2);
  const factor = <f32>1 / sqrt<f32>(<f32>rotation);
  let half: usize = 4;
  if (rotation < 16) memory.copy(out, x, end - out);
  else {
    for (let i = out; i < end; i += 64) turnSixteen(x + (i - out), i);
    half = 64;
  }
  if (rotation == 64) for (; out < end; out += 256) turnQuarters(out, factor);
  else turnSingly(out, end, half, <usize>rotation << 2, factor);
}

/** The steps from `half` on, of widths that few models have. */
function turnSingly(start: usize, end: usize, half: usize, size: usize, factor: f32): void {
  for (; half < size; half <<= 1)
    for (let at = start; at < end; at += 4) {
      if ((at - start) & half) continue;
      const a = load<f32>(at);
      const b = load<f32>(at + half);
      store<f32>(at, a + b);
      store<f32>(at + half, a - b);
    }
  for (let at = start; at < end; at += 4) store<f32>(at, load<f32>(at) * factor);
}

/** The first four steps of 16 values: two in columns, then two in rows. */
@inline
function turnSixteen(x: usize, out: usize): void {
  const a = v128.load(x);
  const b = v128.load(x, 16);
  const c = v128.load(x, 32);
  const d = v128.load(x, 48);
  const ab = v128.shuffle<f32>(a, b, 0, 4, 1, 5);
  const ab1 = v128.shuffle<f32>(a, b, 2, 6, 3, 7);
  const cd = v128.shuffle<f32>(c, d, 0, 4, 1, 5);
  const cd1 = v128.shuffle<f32>(c, d, 2, 6, 3, 7);
  const evens = v128.shuffle<f32>(ab, cd, 0, 1, 4, 5);
  const odds = v128.shuffle<f32>(ab, cd, 2, 3, 6, 7);
  const evens1 = v128.shuffle<f32>(ab1, cd1, 0, 1, 4, 5);
  const odds1 = v128.shuffle<f32>(ab1, cd1, 2, 3, 6, 7);
  const sum = f32x4.add(evens, odds);
  const difference = f32x4.sub(evens, odds);
  const sum1 = f32x4.add(evens1, odds1);
  const difference1 = f32x4.sub(evens1, odds1);
  const p = f32x4.add(sum, sum1);
  const q = f32x4.add(difference, difference1);
  const r = f32x4.sub(sum, sum1);
  const s = f32x4.sub(difference, difference1);
  const pq = v128.shuffle<f32>(p, q, 0, 4, 1, 5);
  const pq1 = v128.shuffle<f32>(p, q, 2, 6, 3, 7);
  const rs = v128.shuffle<f32>(r, s, 0, 4, 1, 5);
  const rs1 = v128.shuffle<f32>(r, s, 2, 6, 3, 7);
  turnFour(
    out,
    16,
    v128.shuffle<f32>(pq, rs, 0, 1, 4, 5),
    v128.shuffle<f32>(pq, rs, 2, 3, 6, 7),
    v128.shuffle<f32>(pq1, rs1, 0, 1, 4, 5),
    v128.shuffle<f32>(pq1, rs1, 2, 3, 6, 7),
    1,
  );
}

/** The last two steps of 64 values. */
@inline
function turnQuarters(x: usize, factor: f32): void {
  for (const end = x + 64; x < end; x += 16)
    turnFour(x, 64, v128.load(x), v128.load(x, 64), v128.load(x, 128), v128.load(x, 192), factor);
}

/** Two steps of four vectors, which are stored `stride` apart. */
@inline
function turnFour(out: usize, stride: usize, a: v128, b: v128, c: v128, d: v128, factor: f32): void {
  const sum = f32x4.add(a, b);
  const difference = f32x4.sub(a, b);
  const otherSum = f32x4.add(c, d);
  const otherDifference = f32x4.sub(c, d);
  v128.store(out, times(f32x4.add(sum, otherSum), factor));
  v128.store(out + stride, times(f32x4.add(difference, otherDifference), factor));
  v128.store(out + (stride << 1), times(f32x4.sub(sum, otherSum), factor));
  v128.store(out + (stride << 1) + stride, times(f32x4.sub(difference, otherDifference), factor));
}

/** The compiler leaves out a constant 1. */
@inline
function times(v: v128, factor: f32): v128 {
  return factor == 1 ? v : f32x4.mul(v, f32x4.splat(factor));
}

export function rotate(x: usize, out: usize, rows: i32, width: i32, rotation: i32): void {
  const bytes = <usize>width << 2;
  for (let r = 0; r < rows; r++)
    rotateRow(x + <usize>r * bytes, out + <usize>r * bytes, width, rotation);
}
