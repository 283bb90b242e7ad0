import { multiplyRows } from './dots';
import { exp, tanh } from './functions';
import { sumOf } from './lanes';
import { mixRows } from './mix';

/** Queries that are computed together: tokens of a head, or heads of a token that share keys. */
const TILE: i32 = 4;

/** Below, e^x adds nothing to a sum whose largest part is 1. */
const VANISHING: f32 = -87;

export function attend(
  query: usize,
  queryStride: i32,
  keys: usize,
  values: usize,
  headStride: i32,
  positionStride: i32,
  out: usize,
  outStride: i32,
  scratch: usize,
  tokens: i32,
  past: i32,
  heads: i32,
  kvHeads: i32,
  headSize: i32,
  firstHead: i32,
  endHead: i32,
  scale: f32,
  window: i32,
  softcap: f32,
  isCausal: i32,
): void {
  const perKvHead = heads / kvHeads;
  const positionBytes = <usize>positionStride << 2;
  const headBytes = <usize>headSize << 2;
  const shareBytes = <usize>((past + tokens + 6) & ~3) << 2;
  const isOne = tokens == 1;
  const queryBytes = isOne ? headBytes : <usize>queryStride << 2;
  const outBytes = isOne ? headBytes : <usize>outStride << 2;
  for (let h = firstHead; h < endHead; ) {
    const kvHead = h / perKvHead;
    const numHeads = isOne ? min(min((kvHead + 1) * perKvHead, endHead) - h, TILE) : 1;
    for (let t = 0; t < tokens; t += TILE) {
      const rows = isOne ? numHeads : min(tokens - t, TILE);
      // Heads of one token attend to the same positions. Each next token ends one later.
      const later = isOne || !isCausal ? 0 : 1;
      const first = isCausal ? firstPosition(past + t, window) : 0;
      const firstEnd = (isCausal ? past + t + 1 : past + tokens) - first;
      const count = firstEnd + later * (rows - 1);
      const from = query + (<usize>(t * queryStride + h * headSize) << 2);
      const to = out + (<usize>(t * outStride + h * headSize) << 2);
      const offset = <usize>(kvHead * headStride + first * positionStride) << 2;
      multiplyRows(from, queryBytes, keys + offset, positionBytes, 0, scratch, shareBytes, rows, headSize, 0, count);
      // All rows attend to `shared` to `sharedEnd`. Others' positions aren't even multiplied by 0: they may be infinite.
      const shared = later ? firstPosition(past + t + rows - 1, window) - first : 0;
      const sharedEnd = max(firstEnd, shared);
      for (let r = 0; r < rows; r++) {
        const begin = later ? firstPosition(past + t + r, window) - first : 0;
        const end = firstEnd + later * r;
        const shares = scratch + <usize>r * shareBytes;
        weigh(shares, begin, end, scale, softcap);
        memory.fill(to + <usize>r * outBytes, 0, headBytes);
        mixOne(shares, values + offset, positionBytes, to + <usize>r * outBytes, begin, min(shared, end), headSize);
      }
      mixRows(scratch, shareBytes, values + offset, positionBytes, to, outBytes, rows, shared, sharedEnd, headSize);
      for (let r = 0; r < rows; r++) {
        const shares = scratch + <usize>r * shareBytes;
        const end = firstEnd + later * r;
        mixOne(shares, values + offset, positionBytes, to + <usize>r * outBytes, sharedEnd, end, headSize);
      }
    }
    h += numHeads;
  }
}

/** As `mixRows`, of one row. */
@inline
function mixOne(shares: usize, values: usize, stride: usize, out: usize, first: i32, end: i32, width: i32): void {
  if (first < end) mixRows(shares, 0, values, stride, out, 0, 1, first, end, width);
}

/** The first position that the token at a position attends to. */
@inline
function firstPosition(position: i32, window: i32): i32 {
  return window ? max(position + 1 - window, 0) : 0;
}

/** Makes shares of the scores from `first` to `end`. May write three values behind them. */
function weigh(row: usize, first: i32, end: i32, scale: f32, softcap: f32): void {
  const from = row + (<usize>first << 2);
  const length = end - first;
  let largest = f32x4.splat(-f32.MAX_VALUE);
  for (let i = 0; i < length; i += 4) {
    const at = from + (<usize>i << 2);
    let v = f32x4.mul(v128.load(at), f32x4.splat(scale));
    if (softcap != 0) v = f32x4.mul(tanh(f32x4.div(v, f32x4.splat(softcap))), f32x4.splat(softcap));
    if (i + 4 > length) v = lowered(v, length - i);
    v128.store(at, v);
    largest = f32x4.pmax(largest, v);
  }
  largest = f32x4.max(largest, v128.shuffle<f32>(largest, largest, 2, 3, 0, 1));
  largest = f32x4.max(largest, v128.shuffle<f32>(largest, largest, 1, 0, 3, 2));
  let sum = f32x4.splat(0);
  for (let i = 0; i < length; i += 4) {
    const at = from + (<usize>i << 2);
    const v = f32x4.sub(v128.load(at), largest);
    const e = v128.andnot(exp(v), f32x4.lt(v, f32x4.splat(VANISHING)));
    v128.store(at, e);
    sum = f32x4.add(sum, e);
  }
  const factor = f32x4.splat(<f32>1 / sumOf(sum));
  for (let i = 0; i < length; i += 4) {
    const at = from + (<usize>i << 2);
    v128.store(at, f32x4.mul(v128.load(at), factor));
  }
}

/** Makes lanes from `count` on so low that they vanish. */
@inline
function lowered(v: v128, count: i32): v128 {
  const isBehind = i32x4.ge_s(i32x4(0, 1, 2, 3), i32x4.splat(count));
  return v128.bitselect(f32x4.splat(-f32.MAX_VALUE), v, isBehind);
}
