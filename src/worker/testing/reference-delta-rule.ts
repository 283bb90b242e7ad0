import type { DeltaHeads } from '../models/program/model-config.ts';
import { chunk, sigmoid, sum, type Vector } from './reference-operations.ts';

/** The values of each token. */
type Vectors = readonly Vector[];

/**
 * Test support: the outputs of all tokens, one after the other, and the matrices behind the last one.
 *
 * @param before The matrices that the row has kept: 0 where left out.
 */
export function runDeltaRule(
  shape: DeltaHeads,
  inputs: readonly Vectors[],
  [rates = new Float32Array(), biases = new Float32Array()]: readonly Float32Array[],
  before?: Vectors,
): { readonly outputs: Vectors; readonly states: Vectors } {
  const { numValueHeads, keySize, valueSize } = shape;
  const none = Array<number>(keySize * valueSize).fill(0);
  let states = before ?? Array<Vector>(numValueHeads).fill(none);
  const outputs = (inputs[0] ?? []).map((_, token) => {
    const heads = headsOf(
      shape,
      inputs.map((vectors) => vectors[token] ?? []),
    );
    const next = heads.map((head, i) => step(states[i] ?? none, head, rates[i] ?? NaN, biases[i] ?? NaN));
    states = next.map(({ state }) => state);
    return next.flatMap(({ output }) => output);
  });
  return { outputs, states };
}

interface Head {
  readonly query: Vector;
  readonly key: Vector;
  readonly value: Vector;
  readonly decay: number;
  readonly beta: number;
}

/** A token as each head of values sees it. */
function headsOf(
  { numKeyHeads, numValueHeads, keySize, valueSize }: DeltaHeads,
  [queries = [], keys = [], values = [], decays = [], betas = []]: readonly Vector[],
): readonly Head[] {
  const [query, key] = [chunk(queries, keySize), chunk(keys, keySize)];
  return chunk(values, valueSize).map((value, head) => {
    const shared = Math.floor(head / (numValueHeads / numKeyHeads));
    return {
      query: query[shared] ?? [],
      key: key[shared] ?? [],
      value,
      decay: decays[head] ?? NaN,
      beta: betas[head] ?? NaN,
    };
  });
}

/** @param before [keySize, valueSize] */
function step(
  before: Vector,
  head: Head,
  rate: number,
  bias: number,
): { readonly state: Vector; readonly output: Vector } {
  const size = head.value.length;
  const key = unit(head.key);
  const query = unit(head.query).map((value) => value / Math.sqrt(key.length));
  const factor = Math.exp(-Math.exp(rate) * Math.log1p(Math.exp(head.decay + bias)));
  const decayed = before.map((value) => factor * value);
  const read = (state: Vector, by: Vector): Vector =>
    head.value.map((_, column) => sum(by.map((value, row) => value * (state[row * size + column] ?? NaN))));
  const found = read(decayed, key);
  const moves = head.value.map((value, column) => sigmoid(head.beta) * (value - (found[column] ?? NaN)));
  const state = decayed.map(
    (value, i) => value + (key[Math.floor(i / size)] ?? NaN) * (moves[i % size] ?? NaN),
  );
  return { state, output: read(state, query) };
}

function unit(x: Vector): Vector {
  const length = Math.sqrt(sum(x.map((value) => value ** 2)) + 1e-6);
  return x.map((value) => value / length);
}
