import type { Pooling } from '../models/encoder/encoder-config.ts';
import type { Heads, ModelTensor } from '../models/program/model-config.ts';
import type { Activation } from '../models/program/activation.ts';
import type { NormShape, Rotary } from '../models/program/program.ts';

/** Test support: the values of a token, or of a text. */
export type Vector = readonly number[];

export function embed(table: Float32Array, width: number, row: number): Vector {
  return [...table.subarray(row * width, (row + 1) * width)];
}

/** Normalizes as many values at a time as there are gains. */
export function normalize(x: Vector, shape: NormShape, gains: Float32Array, biases?: Float32Array): Vector {
  const { method, epsilon, gainOffset = 0 } = shape;
  return chunk(x, gains.length).flatMap((values) => {
    const mean = method === 'layer' ? meanOf(values) : 0;
    const centered = values.map((value) => value - mean);
    const deviation = Math.sqrt(meanOf(centered.map((value) => value ** 2)) + epsilon);
    return centered.map(
      (value, i) => (value / deviation) * (gainOffset + (gains[i] ?? NaN)) + (biases?.[i] ?? 0),
    );
  });
}

/** The product with a matrix, each of whose outputs has a row, or of a `conv1d` a column. */
export function project(x: Vector, { shape, role }: ModelTensor, matrix: Float32Array): Vector {
  const [numRows = 0, numColumns = 0] = shape;
  const [numOutputs, outputStride, inputStride] =
    role === 'conv1d' ? [numColumns, 1, numColumns] : [numRows, numColumns, 1];
  const inputs = Float64Array.from(x);
  return Array.from({ length: numOutputs }, (_, output) => {
    let total = 0;
    for (let input = 0; input < inputs.length; input++)
      total += (inputs[input] ?? NaN) * (matrix[output * outputStride + input * inputStride] ?? NaN);
    return total;
  });
}

/** Turns pairs of each head: of its first values, one of the first half with that of the second. */
export function rotate(
  x: Vector,
  { rope, headSize }: Pick<Rotary, 'rope' | 'headSize'>,
  position: number,
): Vector {
  const { frequencies, attentionFactor } = rope;
  const half = frequencies.length;
  return chunk(x, headSize).flatMap((head) => {
    const turned = frequencies.map((frequency, i) => {
      const [first = NaN, second = NaN] = [head[i], head[half + i]];
      const [cos, sin] = [Math.cos(position * frequency), Math.sin(position * frequency)];
      return [
        attentionFactor * (first * cos - second * sin),
        attentionFactor * (second * cos + first * sin),
      ] as const;
    });
    return [
      ...turned.map(([first]) => first),
      ...turned.map(([, second]) => second),
      ...head.slice(2 * half),
    ];
  });
}

/** The values of keys by their shares, head by head. Heads in a row share a head of keys and values. */
export function attend(
  query: Vector,
  past: { readonly keys: readonly Vector[]; readonly values: readonly Vector[] },
  { numHeads, numKvHeads, headSize }: Heads,
  scale: number,
): Vector {
  return chunk(query, headSize).flatMap((head, index) => {
    const first = Math.floor(index / (numHeads / numKvHeads)) * headSize;
    const shares = softmax(
      past.keys.map(
        (key) => scale * head.reduce((total, value, i) => total + value * (key[first + i] ?? NaN), 0),
      ),
    );
    return head.map((_, i) =>
      past.values.reduce((total, value, at) => total + (shares[at] ?? NaN) * (value[first + i] ?? NaN), 0),
    );
  });
}

/** @param latest The values of as many tokens as the kernel is long, the token's own last. */
export function convolve(latest: readonly Vector[], kernel: Float32Array): Vector {
  const [first = []] = latest;
  return first.map((_, i) =>
    sum(latest.map((x, at) => (x[i] ?? NaN) * (kernel[i * latest.length + at] ?? NaN))),
  );
}

export function activate(activation: Activation, x: number): number {
  switch (activation) {
    case 'gelu_tanh':
      return (x / 2) * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3)));
    case 'gelu_erf':
      return (x / 2) * (1 + erf(x / Math.SQRT2));
    case 'quick_gelu':
      return x * sigmoid(1.702 * x);
    case 'relu':
      return Math.max(0, x);
    case 'silu':
      return x * sigmoid(x);
    case 'tanh':
      return Math.tanh(x);
    case 'sigmoid':
      return sigmoid(x);
    default:
      return activation satisfies never;
  }
}

/** Each token's share of the vector of a text. */
export function poolingShares(pooling: Pooling, numTokens: number): Vector {
  const last = numTokens - 1;
  const shareOf = {
    mean: () => 1 / numTokens,
    'sqrt-mean': () => 1 / Math.sqrt(numTokens),
    'weighted-mean': (at: number) => (at + 1) / ((numTokens * (numTokens + 1)) / 2),
    cls: (at: number) => (at === 0 ? 1 : 0),
    last: (at: number) => (at === last ? 1 : 0),
  }[pooling];
  return Array.from({ length: numTokens }, (_, at) => shareOf(at));
}

export function sum(values: Vector): number {
  return values.reduce((total, value) => total + value, 0);
}

function meanOf(values: Vector): number {
  return sum(values) / values.length;
}

function softmax(scores: Vector): Vector {
  const largest = Math.max(...scores);
  const weights = scores.map((score) => Math.exp(score - largest));
  const total = sum(weights);
  return weights.map((weight) => weight / total);
}

export function sigmoid(x: number): number {
  return 1 / (1 + Math.exp(-x));
}

/** All terms of this series have one sign, so that none cancels another. Beyond 6 it is 1 in float64. */
function erf(x: number): number {
  if (Math.abs(x) > 6) return Math.sign(x);
  let term = x;
  let total = x;
  for (let n = 1; Math.abs(term) > 1e-18 * Math.abs(total); n++) {
    term *= (2 * x ** 2) / (2 * n + 1);
    total += term;
  }
  return (2 / Math.sqrt(Math.PI)) * Math.exp(-(x ** 2)) * total;
}

export function chunk(x: Vector, size: number): readonly Vector[] {
  return Array.from({ length: x.length / size }, (_, i) => x.slice(i * size, (i + 1) * size));
}
