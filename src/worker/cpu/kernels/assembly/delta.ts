import { exp, sigmoid } from './functions';
import { loadLanes, storeLanes, sumOf } from './lanes';

/** Added to the squared length of queries and keys. */
const EPSILON: f32 = 1e-6;

export function deltaRule(
  query: usize,
  key: usize,
  value: usize,
  keyStride: i32,
  valueStride: i32,
  decay: usize,
  beta: usize,
  gateStride: i32,
  rate: usize,
  bias: usize,
  state: usize,
  out: usize,
  outStride: i32,
  tokens: i32,
  keyHeads: i32,
  heads: i32,
  keySize: i32,
  valueSize: i32,
  firstHead: i32,
  endHead: i32,
): void {
  const stateBytes = <usize>(keySize * valueSize) << 2;
  for (let h = firstHead; h < endHead; h++) {
    const keyHead = h / (heads / keyHeads);
    const at = <usize>h << 2;
    for (let t = 0; t < tokens; t++) {
      const keyOffset = <usize>(t * keyStride + keyHead * keySize) << 2;
      const gateOffset = <usize>(t * gateStride + h) << 2;
      updateHead(
        query + keyOffset,
        key + keyOffset,
        value + (<usize>(t * valueStride + h * valueSize) << 2),
        factorOf(load<f32>(decay + gateOffset) + load<f32>(bias + at), load<f32>(rate + at)),
        f32x4.extract_lane(sigmoid(v128.load32_splat(beta + gateOffset)), 0),
        state + <usize>h * stateBytes,
        out + (<usize>(t * outStride + h * valueSize) << 2),
        keySize,
        valueSize,
      );
    }
  }
}

/** e^(-e^rate · softplus(x)) */
@inline
function factorOf(x: f32, rate: f32): f32 {
  const small = f32x4.extract_lane(exp(f32x4.splat(-abs(x))), 0);
  const softplus = max(x, 0) + <f32>NativeMathf.log1p(small);
  const speed = f32x4.extract_lane(exp(f32x4.splat(rate)), 0);
  return f32x4.extract_lane(exp(f32x4.splat(-speed * softplus)), 0);
}

/** A state has a row of `valueSize` for each value of a key. No column needs another one. */
function updateHead(
  query: usize,
  key: usize,
  value: usize,
  factor: f32,
  beta: f32,
  state: usize,
  out: usize,
  keySize: i32,
  valueSize: i32,
): void {
  const rowBytes = <usize>valueSize << 2;
  const factors = f32x4.splat(factor);
  const keyFactor = f32x4.splat(<f32>1 / sqrt<f32>(squaredLength(key, keySize) + EPSILON));
  const queryLength = sqrt<f32>(squaredLength(query, keySize) + EPSILON);
  const queryFactor = f32x4.splat(<f32>1 / (queryLength * sqrt<f32>(<f32>keySize)));
  const betas = f32x4.splat(beta);
  let column = 0;
  for (; column + 16 <= valueSize; column += 16) {
    const at = <usize>column << 2;
    updateSixteen(query, key, value + at, state + at, out + at, keySize, rowBytes, factors, betas, keyFactor, queryFactor);
  }
  for (; column < valueSize; column += 4) {
    const at = <usize>column << 2;
    const count = valueSize - column;
    updateFour(query, key, value + at, state + at, out + at, keySize, rowBytes, count, factors, betas, keyFactor, queryFactor);
  }
}

/** What a value moves a state by, where the state has `found` under the key. It decays before. */
@inline
function moveOf(value: v128, found: v128, factors: v128, betas: v128, keyFactor: v128): v128 {
  const decayed = f32x4.mul(f32x4.mul(found, factors), keyFactor);
  return f32x4.mul(f32x4.mul(betas, f32x4.sub(value, decayed)), keyFactor);
}

/** Columns up to `count`, four at most. */
function updateFour(
  query: usize,
  key: usize,
  value: usize,
  state: usize,
  out: usize,
  keySize: i32,
  rowBytes: usize,
  count: i32,
  factors: v128,
  betas: v128,
  keyFactor: v128,
  queryFactor: v128,
): void {
  let found = f32x4.splat(0);
  const end = state + rowBytes * keySize;
  let k = key;
  for (let row = state; row < end; row += rowBytes) {
    found = f32x4.add(found, f32x4.mul(v128.load32_splat(k), loadLanes(row, count)));
    k += 4;
  }
  const move = moveOf(loadLanes(value, count), found, factors, betas, keyFactor);
  let sum = f32x4.splat(0);
  k = key;
  let q = query;
  for (let row = state; row < end; row += rowBytes) {
    const v = f32x4.add(f32x4.mul(loadLanes(row, count), factors), f32x4.mul(v128.load32_splat(k), move));
    storeLanes(row, v, count);
    sum = f32x4.add(sum, f32x4.mul(v128.load32_splat(q), v));
    k += 4;
    q += 4;
  }
  storeLanes(out, f32x4.mul(sum, queryFactor), count);
}

/** As `updateFour`, of sixteen columns: four sums at a time wait less for each other. */
function updateSixteen(
  query: usize,
  key: usize,
  value: usize,
  state: usize,
  out: usize,
  keySize: i32,
  rowBytes: usize,
  factors: v128,
  betas: v128,
  keyFactor: v128,
  queryFactor: v128,
): void {
  let a = f32x4.splat(0);
  let b = a;
  let c = a;
  let d = a;
  const end = state + rowBytes * keySize;
  let at = key;
  for (let row = state; row < end; row += rowBytes) {
    const k = v128.load32_splat(at);
    a = f32x4.add(a, f32x4.mul(k, v128.load(row)));
    b = f32x4.add(b, f32x4.mul(k, v128.load(row, 16)));
    c = f32x4.add(c, f32x4.mul(k, v128.load(row, 32)));
    d = f32x4.add(d, f32x4.mul(k, v128.load(row, 48)));
    at += 4;
  }
  const moveA = moveOf(v128.load(value), a, factors, betas, keyFactor);
  const moveB = moveOf(v128.load(value, 16), b, factors, betas, keyFactor);
  const moveC = moveOf(v128.load(value, 32), c, factors, betas, keyFactor);
  const moveD = moveOf(v128.load(value, 48), d, factors, betas, keyFactor);
  a = f32x4.splat(0);
  b = a;
  c = a;
  d = a;
  at = key;
  let queryAt = query;
  for (let row = state; row < end; row += rowBytes) {
    const k = v128.load32_splat(at);
    const q = v128.load32_splat(queryAt);
    const rowA = f32x4.add(f32x4.mul(v128.load(row), factors), f32x4.mul(k, moveA));
    const rowB = f32x4.add(f32x4.mul(v128.load(row, 16), factors), f32x4.mul(k, moveB));
    const rowC = f32x4.add(f32x4.mul(v128.load(row, 32), factors), f32x4.mul(k, moveC));
    const rowD = f32x4.add(f32x4.mul(v128.load(row, 48), factors), f32x4.mul(k, moveD));
    v128.store(row, rowA);
    v128.store(row, rowB, 16);
    v128.store(row, rowC, 32);
    v128.store(row, rowD, 48);
    a = f32x4.add(a, f32x4.mul(q, rowA));
    b = f32x4.add(b, f32x4.mul(q, rowB));
    c = f32x4.add(c, f32x4.mul(q, rowC));
    d = f32x4.add(d, f32x4.mul(q, rowD));
    at += 4;
    queryAt += 4;
  }
  v128.store(out, f32x4.mul(a, queryFactor));
  v128.store(out, f32x4.mul(b, queryFactor), 16);
  v128.store(out, f32x4.mul(c, queryFactor), 32);
  v128.store(out, f32x4.mul(d, queryFactor), 48);
}

function squaredLength(x: usize, size: i32): f32 {
  let sum = f32x4.splat(0);
  for (let i = 0; i < size; i += 4) {
    const v = loadLanes(x + (<usize>i << 2), size - i);
    sum = f32x4.add(sum, f32x4.mul(v, v));
  }
  return sumOf(sum);
}
