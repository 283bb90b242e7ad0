import type { Activation } from '../../models/program/activation.ts';
import type { Pointer, WeightKernels } from './weight-kernels.ts';

/**
 * The exports of the kernels' module. All pointers are into the memory that the module was instantiated with.
 *
 * Sizes and strides count elements, not bytes. Values are fp32 unless their comment says otherwise. A stride leads from row to row. A
 * call writes only its target, so threads may run calls whose targets are apart. A kernel may read up to 32 bytes behind the end of
 * `codes` and `zeroPoints`; it doesn't use them.
 *
 * The bits of a result depend only on the values that it is computed from: not on how many rows a call has, on its range of outputs or
 * heads, on the thread, or on whether the module has relaxed SIMD.
 */
export interface Kernels extends WeightKernels {
  /**
   * out[r, o] = Σ x[r, i] · weights[o, i] + bias[o], for outputs `first` to `end`, exclusive. All pointers are to the first output, so
   * a call of another range passes the same ones.
   *
   * @param weights [outputs, inputs]
   * @param bias [outputs], or 0 for none.
   */
  multiplyFloat(
    x: Pointer,
    xStride: number,
    weights: Pointer,
    bias: Pointer,
    out: Pointer,
    outStride: number,
    rows: number,
    inputs: number,
    first: number,
    end: number,
  ): void;

  /**
   * As `multiplyFloat`, with int8 weights: weights[o, i] = scales[o] · codes[o, i].
   *
   * @param quantized [rows, quantizedRowBytes(inputs)] bytes, by `quantizeForInt8`.
   * @param codes [outputs, inputs] int8, -128 to 127.
   * @param scales [outputs]
   * @param sums [outputs] int32, by `sumCodes`.
   */
  multiplyInt8(
    quantized: Pointer,
    codes: Pointer,
    scales: Pointer,
    sums: Pointer,
    bias: Pointer,
    out: Pointer,
    outStride: number,
    rows: number,
    inputs: number,
    first: number,
    end: number,
  ): void;

  /**
   * As `multiplyFloat`, with weights in blocks of 32 as a packed file has them:
   * weights[o, i] = scales[o, i / 32] · (codes[o, i] - zeroPoints[o, i / 32]).
   *
   * @param quantized [rows, quantizedRowBytes(inputs)] bytes, by `quantizeForInt4`.
   * @param codes [outputs, inputs / 2] bytes, the first of two codes in the lower half of a byte.
   * @param scales [outputs, inputs / 32]
   * @param zeroPoints [outputs, ⌈inputs / 64⌉] bytes, two in a byte as in `codes`.
   * @param inputs A multiple of 32.
   */
  multiplyInt4(
    quantized: Pointer,
    codes: Pointer,
    scales: Pointer,
    zeroPoints: Pointer,
    bias: Pointer,
    out: Pointer,
    outStride: number,
    rows: number,
    inputs: number,
    first: number,
    end: number,
  ): void;

  /**
   * Quantizes rows to 14 bits for `multiplyInt8`, with a scale for each row.
   *
   * @param quantized The target: [rows, quantizedRowBytes(inputs)] bytes.
   * @param rotation Values that are turned together before, as `rotate` does it. 1 for none.
   * @param scratch [inputs], for the turned row. Not read with a rotation of 1.
   */
  quantizeForInt8(
    x: Pointer,
    xStride: number,
    quantized: Pointer,
    rows: number,
    inputs: number,
    rotation: number,
    scratch: Pointer,
  ): void;

  /** As `quantizeForInt8`, for `multiplyInt4`. */
  quantizeForInt4(x: Pointer, xStride: number, quantized: Pointer, rows: number, inputs: number): void;

  /** Turns each `rotation` values of a row by a Hadamard matrix, as a checkpoint's `rotate` does. In place where `out` is `x`. */
  rotate(x: Pointer, out: Pointer, rows: number, width: number, rotation: number): void;

  /** out[r, :] = table[ids[r], :]. Ids are [rows] int32. */
  embedFloat(table: Pointer, ids: Pointer, out: Pointer, rows: number, width: number): void;

  /** As `embedFloat`, of a table as `multiplyInt8` has it. Where it is rotated, `rotate` turns the rows back. */
  embedInt8(codes: Pointer, scales: Pointer, ids: Pointer, out: Pointer, rows: number, width: number): void;

  /** As `embedFloat`, of a table as `multiplyInt4` has it. */
  embedInt4(
    codes: Pointer,
    scales: Pointer,
    zeroPoints: Pointer,
    ids: Pointer,
    out: Pointer,
    rows: number,
    width: number,
  ): void;

  /**
   * out = (x - mean) / √(mean((x - mean)²) + epsilon) · (gain + gainOffset) + bias. In place where `out` is `x`. Squares that overflow
   * fp32 are summed up in fp64.
   *
   * @param gain [width]
   * @param bias [width], or 0 for none.
   * @param parts How often a row has `width` values one behind the other that are normalized by themselves: heads, or 1.
   * @param isCentered 0: the mean is taken for 0, so that x is divided by its root mean square.
   */
  normalize(
    x: Pointer,
    xStride: number,
    gain: Pointer,
    bias: Pointer,
    out: Pointer,
    outStride: number,
    rows: number,
    parts: number,
    width: number,
    epsilon: number,
    gainOffset: number,
    isCentered: 0 | 1,
  ): void;

  /**
   * Turns the pairs (i, i + half) of each head by the row's position, in place.
   *
   * @param positions [rows] int32: rows of the tables.
   * @param cos [positions, half]
   * @param sin [positions, half]
   * @param headStride Values from one head to the next: 2 · half, or more where a head's rest isn't turned.
   */
  rotary(
    x: Pointer,
    xStride: number,
    positions: Pointer,
    cos: Pointer,
    sin: Pointer,
    rows: number,
    heads: number,
    headStride: number,
    half: number,
  ): void;

  /**
   * Copies heads of keys or values of one sequence into its cache: out[h · headStride + t · positionStride + i] = x[t, h, i].
   *
   * @param out The place of the first token.
   */
  storeHeads(
    x: Pointer,
    xStride: number,
    out: Pointer,
    headStride: number,
    positionStride: number,
    tokens: number,
    heads: number,
    headSize: number,
  ): void;

  /**
   * Attention of the last `tokens` positions of one sequence over its `past` and themselves, whose keys and values are in the cache.
   * Computes query heads `firstHead` to `endHead`, exclusive. Query head h reads key/value head ⌊h · kvHeads / heads⌋.
   *
   * @param query [tokens, queryStride]: heads of `headSize` values one behind the other.
   * @param keys Value i of position p of head h is at h · headStride + p · positionStride + i.
   * @param values As `keys`.
   * @param out [tokens, outStride], as `query`.
   * @param scratch `attentionScratchBytes(past + tokens)` bytes, of this call alone.
   * @param scale Factor of the scores.
   * @param window The latest positions that a token attends to, itself included. 0 for all.
   * @param softcap Scores become softcap · tanh(score / softcap). 0 for none.
   * @param isCausal 1: a token attends up to itself. 0: to all positions, and `window` is not read.
   */
  attend(
    query: Pointer,
    queryStride: number,
    keys: Pointer,
    values: Pointer,
    headStride: number,
    positionStride: number,
    out: Pointer,
    outStride: number,
    scratch: Pointer,
    tokens: number,
    past: number,
    heads: number,
    kvHeads: number,
    headSize: number,
    firstHead: number,
    endHead: number,
    scale: number,
    window: number,
    softcap: number,
    isCausal: 0 | 1,
  ): void;

  /**
   * Linear attention by the gated delta rule of `DeltaRule`, for the tokens of one sequence. Computes heads of values `firstHead` to
   * `endHead`, exclusive. Head h reads key head ⌊h · keyHeads / heads⌋.
   *
   * @param query [tokens, keyStride]: heads of `keySize` values one behind the other.
   * @param key As `query`.
   * @param value [tokens, valueStride]: heads of `valueSize` values.
   * @param decay [tokens, gateStride]: a value for each head.
   * @param beta As `decay`.
   * @param rate [heads]
   * @param bias [heads]
   * @param state [heads, keySize, valueSize], which the tokens change.
   * @param out [tokens, outStride], as `value`.
   */
  deltaRule(
    query: Pointer,
    key: Pointer,
    value: Pointer,
    keyStride: number,
    valueStride: number,
    decay: Pointer,
    beta: Pointer,
    gateStride: number,
    rate: Pointer,
    bias: Pointer,
    state: Pointer,
    out: Pointer,
    outStride: number,
    tokens: number,
    keyHeads: number,
    heads: number,
    keySize: number,
    valueSize: number,
    firstHead: number,
    endHead: number,
  ): void;

  /**
   * out[t, i] = bias[i] + Σ weights[i, j] · x[t + j - length + 1, i], for consecutive tokens of one sequence. Tokens before the first are
   * in `state`, which holds the last ones afterwards.
   *
   * @param state [length - 1, width]. 0: nothing is before the first token, and nothing is kept.
   * @param weights [width, length]
   * @param bias [width], or 0 for none.
   * @param out Apart from `x`.
   */
  shortConv(
    x: Pointer,
    xStride: number,
    state: Pointer,
    weights: Pointer,
    bias: Pointer,
    out: Pointer,
    outStride: number,
    tokens: number,
    width: number,
    length: number,
  ): void;

  /** By one of `ACTIVATION_KINDS`. In place where `out` is `x`. */
  readonly activate: Transform;

  /** out = a · b, or a + b where `isProduct` is 0. In place where `out` is `a` or `b`. */
  combine(
    a: Pointer,
    aStride: number,
    b: Pointer,
    bStride: number,
    out: Pointer,
    outStride: number,
    rows: number,
    width: number,
    isProduct: 0 | 1,
  ): void;

  /** out = factor · x. In place where `out` is `x`. */
  readonly scale: Transform;

  /** out[:] = Σ shares[t] · x[t, :]. Shares are [tokens]. */
  pool(x: Pointer, xStride: number, shares: Pointer, out: Pointer, tokens: number, width: number): void;
}

/** Changes each value of rows. */
type Transform = (
  x: Pointer,
  xStride: number,
  out: Pointer,
  outStride: number,
  rows: number,
  width: number,
  parameter: number,
) => void;

/** The numbers by which `activate` knows activations. */
export const ACTIVATION_KINDS: Readonly<Record<Activation, number>> = {
  relu: 0,
  silu: 1,
  gelu_tanh: 2,
  gelu_erf: 3,
  quick_gelu: 4,
  tanh: 5,
  sigmoid: 6,
};

/** Bytes of a quantized row: its scale, two bytes for each value, and for 4 bits the sums of each 32 values. */
export function quantizedRowBytes(inputs: number): number {
  return 16 + 80 * Math.ceil(inputs / 32);
}

/** @param positions All that the call attends to. */
export function attentionScratchBytes(positions: number): number {
  return 64 * Math.ceil((positions + 3) / 4);
}
