import type { PackedLayout } from '../models/checkpoint/packed-weights.ts';
import type { Pooling } from '../models/encoder/encoder-config.ts';
import type { Attend, DeltaRule, Op, Program, ShortConv, Split, Value } from '../models/program/program.ts';
import type { EncoderRow } from '../runtime/encoder-inputs.ts';
import { runDeltaRule } from './reference-delta-rule.ts';
import {
  activate,
  attend,
  chunk,
  convolve,
  embed,
  normalize,
  poolingShares,
  project,
  rotate,
  sum,
  type Vector,
} from './reference-operations.ts';

/** A token that a program reads. */
interface Token {
  /** Its id. */
  readonly token: number;
  readonly position: number;
  /** 1 in the second text of a pair, else 0. */
  readonly type: number;
}

/** Keys and values by position. */
interface KeysAndValues {
  readonly keys: Vector[];
  readonly values: Vector[];
}

/** Test support: what a row keeps between runs. */
export class ReferenceRow {
  /** By what the keys are: layers that attend to the same keep them once. */
  readonly #kv = new Map<Value, KeysAndValues>();
  /** State of a fixed size: what a convolution has read last, or the matrices of linear attention. It stands where the row stands. */
  readonly fixed = new Map<Op, readonly Vector[]>();

  keysAndValues(key: Value): KeysAndValues {
    const kept = this.#kv.get(key) ?? { keys: [], values: [] };
    this.#kv.set(key, kept);
    return kept;
  }

  /** Keeps the keys and values that fit. */
  truncate(capacity: number): void {
    for (const { keys, values } of this.#kv.values()) {
      keys.splice(capacity);
      values.splice(capacity);
    }
  }

  copyFixed({ fixed }: ReferenceRow): void {
    this.fixed.clear();
    for (const [op, vectors] of fixed) this.fixed.set(op, vectors);
  }

  copy(): ReferenceRow {
    const copy = new ReferenceRow();
    copy.copyFixed(this);
    for (const [key, { keys, values }] of this.#kv)
      copy.#kv.set(key, { keys: [...keys], values: [...values] });
    return copy;
  }
}

/** Values of each token, or of a text one alone. */
type Vectors = readonly Vector[];

interface Run {
  readonly row: ReferenceRow;
  readonly tokens: readonly Token[];
  /** Of each token in what is pooled. */
  readonly shares: Vector;
}

/**
 * Test support: computes a program in float64, one row at a time, a token after the other, as plainly as its operations are
 * described. Readers are held against it.
 */
export class ReferenceExecutor {
  readonly #program: Program;
  readonly #weights: ReadonlyMap<string, Float32Array>;

  constructor(program: Program, weights: ReadonlyMap<string, Float32Array>) {
    this.#program = program;
    this.#weights = weights;
  }

  /**
   * Feeds tokens into a row, whose first gets the position `start`.
   *
   * @returns The logits of each.
   */
  run(row: ReferenceRow, tokenIds: readonly number[], start = 0): Vectors {
    const tokens = tokenIds.map((token, i) => ({ token, position: start + i, type: 0 }));
    return this.#run({ row, tokens, shares: [] });
  }

  /** @returns The vector or the score of a text, or of a pair. */
  encode({ tokenIds, numFirst }: EncoderRow, pooling: Pooling): Vector {
    const tokens = tokenIds.map((token, position) => ({
      token,
      position,
      type: position < numFirst ? 0 : 1,
    }));
    const shares = poolingShares(pooling, tokenIds.length);
    return this.#run({ row: new ReferenceRow(), tokens, shares })[0] ?? [];
  }

  #run(run: Run): Vectors {
    const made = new Map<Value, Vectors>();
    for (const op of this.#program.ops) {
      const inputs = op.inputs.map((input) => made.get(input) ?? []);
      const outputs = this.#compute(op, inputs, run);
      for (const [i, output] of op.outputs.entries()) made.set(output, outputs[i] ?? []);
    }
    return made.get(this.#program.output) ?? [];
  }

  /** @returns Each output. */
  #compute(op: Op, inputs: readonly Vectors[], run: Run): readonly Vectors[] {
    const [first = [], second = []] = inputs;
    const weights = op.weights.flatMap((tensor) => (tensor ? [this.#weightOf(tensor.name)] : []));
    const [weight = new Float32Array(), bias] = weights;
    switch (op.kind) {
      case 'embed': {
        const [{ width }] = op.outputs;
        return [run.tokens.map((token) => embed(weight, width, token[op.by]))];
      }
      case 'norm':
        return [first.map((x) => normalize(x, op, weight, bias))];
      case 'linear':
        return split(
          first.map((x) => add(project(x, op.weights[0], weight), bias)),
          op.outputs,
        );
      case 'rotary':
        return inputs.map((vectors) => vectors.map((x, i) => rotate(x, op, run.tokens[i]?.position ?? NaN)));
      case 'attend':
        return [attendAll(op, inputs, run)];
      case 'shortConv':
        return [convolveAll(op, first, run.row, weight).map((x) => add(x, bias))];
      case 'deltaRule':
        return [recurAll(op, inputs, run.row, weights)];
      case 'split':
        return splitHeads(op, first);
      case 'activation':
        return [first.map((x) => x.map((value) => activate(op.activation, value)))];
      case 'add':
        return [first.map((x, i) => add(x, second[i]))];
      case 'multiply':
        return [first.map((x, i) => x.map((value, j) => value * (second[i]?.[j] ?? NaN)))];
      case 'scale':
        return [first.map((x) => x.map((value) => op.factor * value))];
      case 'pool':
        return [[pool(first, run.shares)]];
      case 'head':
        return [first.map((x) => project(x, op.weights[0], weight))];
      default:
        return op satisfies never;
    }
  }

  #weightOf(name: string): Float32Array {
    const weight = this.#weights.get(name);
    if (!weight) throw new Error(`Expected ${name} among the weights`);
    return weight;
  }
}

/** Tokens write their keys and values first: those of an encoder attend to later ones too. */
function attendAll(
  op: Attend,
  [queries = [], keys = [], values = []]: readonly Vectors[],
  run: Run,
): Vectors {
  const { heads, scale, window = Infinity, inputs } = op;
  const kept = run.row.keysAndValues(inputs[1]);
  for (const [i, { position }] of run.tokens.entries()) {
    kept.keys[position] = keys[i] ?? [];
    kept.values[position] = values[i] ?? [];
  }
  return run.tokens.map(({ position }, i) => {
    const end = op.isCausal ? position + 1 : run.tokens.length;
    const begin = Math.max(0, position + 1 - window);
    const past = { keys: kept.keys.slice(begin, end), values: kept.values.slice(begin, end) };
    return attend(queries[i] ?? [], past, heads, scale);
  });
}

function convolveAll(op: ShortConv, x: Vectors, row: ReferenceRow, kernel: Float32Array): Vectors {
  const [{ width }] = op.inputs;
  const length = kernel.length / width;
  const before = row.fixed.get(op) ?? Array.from({ length: length - 1 }, () => x[0]?.map(() => 0) ?? []);
  const all = [...before, ...x];
  row.fixed.set(op, all.slice(x.length));
  return x.map((_, i) => convolve(all.slice(i, i + length), kernel));
}

function recurAll(
  op: DeltaRule,
  inputs: readonly Vectors[],
  row: ReferenceRow,
  weights: readonly Float32Array[],
): Vectors {
  const { outputs, states } = runDeltaRule(op.heads, inputs, weights, row.fixed.get(op));
  row.fixed.set(op, states);
  return outputs;
}

function splitHeads({ numHeads, outputs }: Split, x: Vectors): readonly Vectors[] {
  const parts = outputs.map((output) => ({ ...output, width: output.width / numHeads }));
  const byHead = x.map((vector) => chunk(vector, vector.length / numHeads));
  return outputs.map((_, part) => byHead.map((heads) => split(heads, parts)[part]?.flat() ?? []));
}

function pool(x: Vectors, shares: Vector): Vector {
  return (x[0] ?? []).map((_, j) => sum(x.map((vector, i) => (shares[i] ?? NaN) * (vector[j] ?? NaN))));
}

function add(x: Vector, other: Vector | Float32Array | undefined): Vector {
  return other ? x.map((value, i) => value + (other[i] ?? NaN)) : x;
}

/** The outputs of a matrix, one behind the other. */
function split(x: Vectors, outputs: readonly Value[]): readonly Vectors[] {
  let at = 0;
  return outputs.map(({ width }) => {
    const begin = at;
    at += width;
    return x.map((values) => values.slice(begin, begin + width));
  });
}

/** Test support: packed weights in fp32, by the names of their tensors. */
export function weightsOf(model: {
  readonly packed: PackedLayout;
  readonly weights: Uint8Array;
}): ReadonlyMap<string, Float32Array> {
  return new Map(
    model.packed.tensors.map(({ name, offset, length }) => [
      name,
      new Float32Array(model.weights.slice(offset, offset + length).buffer),
    ]),
  );
}
