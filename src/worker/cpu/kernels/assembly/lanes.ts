/** Sums of the lanes of four vectors. The order of the sums is the same for each, so the place of a vector doesn't matter. */
@inline
export function sumLanes(a: v128, b: v128, c: v128, d: v128): v128 {
  const ab = f32x4.add(
    v128.shuffle<f32>(a, b, 0, 4, 1, 5),
    v128.shuffle<f32>(a, b, 2, 6, 3, 7),
  );
  const cd = f32x4.add(
    v128.shuffle<f32>(c, d, 0, 4, 1, 5),
    v128.shuffle<f32>(c, d, 2, 6, 3, 7),
  );
  return f32x4.add(v128.shuffle<f32>(ab, cd, 0, 1, 4, 5), v128.shuffle<f32>(ab, cd, 2, 3, 6, 7));
}

/** As `sumLanes`, of one vector. */
@inline
export function sumOf(v: v128): f32 {
  const pairs = f32x4.add(v, v128.shuffle<f32>(v, v, 2, 3, 0, 1));
  return f32x4.extract_lane(pairs, 0) + f32x4.extract_lane(pairs, 1);
}

/** As `sumLanes`, of integers. */
@inline
export function sumIntegerLanes(a: v128, b: v128, c: v128, d: v128): v128 {
  const ab = i32x4.add(
    v128.shuffle<i32>(a, b, 0, 4, 1, 5),
    v128.shuffle<i32>(a, b, 2, 6, 3, 7),
  );
  const cd = i32x4.add(
    v128.shuffle<i32>(c, d, 0, 4, 1, 5),
    v128.shuffle<i32>(c, d, 2, 6, 3, 7),
  );
  return i32x4.add(v128.shuffle<i32>(ab, cd, 0, 1, 4, 5), v128.shuffle<i32>(ab, cd, 2, 3, 6, 7));
}

/** Writes the first `count` lanes. */
@inline
export function storeLanes(at: usize, v: v128, count: i32): void {
  if (count >= 4) {
    v128.store(at, v);
    return;
  }
  store<f32>(at, f32x4.extract_lane(v, 0));
  if (count > 1) store<f32>(at, f32x4.extract_lane(v, 1), 4);
  if (count > 2) store<f32>(at, f32x4.extract_lane(v, 2), 8);
}

/** Reads the first `count` lanes; the others are 0. */
@inline
export function loadLanes(at: usize, count: i32): v128 {
  if (count >= 4) return v128.load(at);
  let v = v128.load32_zero(at);
  if (count > 1) v = f32x4.replace_lane(v, 1, load<f32>(at, 4));
  if (count > 2) v = f32x4.replace_lane(v, 2, load<f32>(at, 8));
  return v;
}

/** Reads four values from anywhere. */
@inline
export function gather(a: usize, b: usize, c: usize, d: usize): v128 {
  const ab = f32x4.replace_lane(v128.load32_zero(a), 1, load<f32>(b));
  return f32x4.replace_lane(f32x4.replace_lane(ab, 2, load<f32>(c)), 3, load<f32>(d));
}

/** Writes the lanes to anywhere, the first one last. */
@inline
export function scatter(v: v128, a: usize, b: usize, c: usize, d: usize): void {
  store<f32>(d, f32x4.extract_lane(v, 3));
  store<f32>(c, f32x4.extract_lane(v, 2));
  store<f32>(b, f32x4.extract_lane(v, 1));
  store<f32>(a, f32x4.extract_lane(v, 0));
}

/** The last two lanes as the first two. */
@inline
export function highHalf(v: v128): v128 {
  return v128.shuffle<i32>(v, v, 2, 3, 2, 3);
}

/** Two times two numbers in fp64 as four in fp32. */
@inline
export function demote(low: v128, high: v128): v128 {
  return v128.shuffle<i64>(f32x4.demote_f64x2_zero(low), f32x4.demote_f64x2_zero(high), 0, 2);
}

/** The largest of the values' distances from 0. NaN where there is one: without their signs, values are ordered as their bits are. */
export function largestOf(row: usize, width: i32): f32 {
  const end = row + (<usize>width << 2);
  let a = i32x4.splat(0);
  let b = a;
  for (; row + 32 <= end; row += 32) {
    a = i32x4.max_s(a, f32x4.abs(v128.load(row)));
    b = i32x4.max_s(b, f32x4.abs(v128.load(row, 16)));
  }
  a = i32x4.max_s(a, b);
  a = i32x4.max_s(a, v128.shuffle<i32>(a, a, 2, 3, 0, 1));
  let largest = max(i32x4.extract_lane(a, 0), i32x4.extract_lane(a, 1));
  for (; row < end; row += 4) largest = max(largest, load<i32>(row) & i32.MAX_VALUE);
  return reinterpret<f32>(largest);
}
