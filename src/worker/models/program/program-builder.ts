import { plainTensor, type DeltaHeads, type Heads, type ModelTensor } from './model-config.ts';
import type { Activation } from './activation.ts';
import type { LayerState } from './layer-state.ts';
import type { AttentionShape, DeltaRule, Embed, NormShape, Op, Program, Qkv, Value } from './program.ts';
import type { Rope } from './rope.ts';

interface LinearOptions {
  readonly hasBias?: boolean;
  /** `conv1d` if the checkpoint has the matrix as [in, out]. */
  readonly role?: 'linear' | 'conv1d';
  readonly isSensitive?: true;
  /** Modules of the checkpoint that make up this one, one for each output. Left out where it has the matrix whole. */
  readonly parts?: readonly string[];
}

/** An output of `split`. */
interface Part {
  readonly name: string;
  /** Values of a head. */
  readonly size: number;
}

/**
 * A program in the making. A family adds operations in the order of its paper's figure and passes their values on. Those of a module of
 * the checkpoint have its name. Shapes of weights follow from the sizes of values, and each operation is checked when it is added.
 */
export class ProgramBuilder {
  readonly #ops: Op[] = [];
  readonly #weights = new Map<string, ModelTensor>();
  readonly #made = new Map<string, Value>();
  readonly #unread = new Set<Value>();
  readonly #layers: StatefulOp[] = [];
  #numSums = 0;

  embed(by: Embed['by'], table: ModelTensor): Value {
    const output = this.#value(moduleOf(table), table.shape[1] ?? 0);
    return this.#add({ kind: 'embed', inputs: [], outputs: [output], weights: [table], by });
  }

  /** @param size Values that are normalized at a time; all of the input where left out. */
  norm(input: Value, name: string, shape: NormShape, size = input.width): Value {
    require(input.width % size === 0, `norm ${name} of ${size} values`, input);
    const plain = (kind: string): ModelTensor => ({ name: `${name}.${kind}`, shape: [size], role: 'plain' });
    const gain = plain('weight');
    return this.#add({
      kind: 'norm',
      inputs: [input],
      outputs: [{ ...input, name }],
      weights: shape.method === 'layer' ? [gain, plain('bias')] : [gain],
      ...shape,
    });
  }

  linear(input: Value, name: string, width: number, options: LinearOptions = {}): Value {
    return this.#linear(input, name, [{ ...input, name, width }], options);
  }

  /** Queries, keys and values, as the outputs of one matrix. */
  qkv(
    input: Value,
    name: string,
    { numHeads, numKvHeads, headSize }: Heads,
    options: LinearOptions = {},
  ): Qkv {
    const qkv = [
      this.#value(`${name}.query`, numHeads * headSize),
      this.#value(`${name}.key`, numKvHeads * headSize),
      this.#value(`${name}.value`, numKvHeads * headSize),
    ] as const;
    this.#linear(input, name, qkv, options);
    return qkv;
  }

  /** @param headSize As many values as turn where left out. */
  rotary([query, key, value]: Qkv, rope: Rope, headSize = 2 * rope.frequencies.length): Qkv {
    const isRight = ({ width }: Value): boolean =>
      width % headSize === 0 && 2 * rope.frequencies.length <= headSize;
    for (const input of [query, key]) require(isRight(input), `rotary of heads of ${headSize} values`, input);
    const rotated = { ...query, name: `${query.name}.rotated` };
    const rotatedKey = { ...key, name: `${key.name}.rotated` };
    this.#add({
      kind: 'rotary',
      inputs: [query, key],
      outputs: [rotated, rotatedKey],
      weights: [],
      rope,
      headSize,
    });
    return [rotated, rotatedKey, value];
  }

  /** Layers attend in their order. One that attends to the same keys and values as an earlier one shares its state. */
  attend(inputs: Qkv, name: string, heads: Heads, shape: AttentionShape): Value {
    const { numHeads, numKvHeads, headSize } = heads;
    for (const [i, num] of [numHeads, numKvHeads, numKvHeads].entries())
      require(inputs[i]?.width === num * headSize, `attend of ${num} heads of ${headSize} values`, ...inputs);
    this.#requireSameState(inputs, numKvHeads);
    const outputs = [{ ...inputs[0], name }] as const;
    const op = {
      kind: 'attend',
      inputs,
      outputs,
      weights: [],
      heads: { numHeads, numKvHeads, headSize },
    } as const;
    const { isCausal, window } = shape;
    return this.#add({ ...op, ...shape }, isCausal && { kind: 'tokens', numKvHeads, headSize, window });
  }

  /** @param length Of the kernel: the tokens that an output is made of. */
  shortConv(input: Value, name: string, length: number, { hasBias = false } = {}): Value {
    const { per, width } = input;
    require(per === 'token' && length > 1, `shortConv of ${length} tokens`, input);
    const kernel = plainTensor(`${name}.weight`, width, 1, length);
    const outputs = [{ ...input, name }] as const;
    const weights = hasBias ? ([kernel, plainTensor(`${name}.bias`, width)] as const) : ([kernel] as const);
    const state = { kind: 'row', shape: [length - 1, width] } as const;
    return this.#add({ kind: 'shortConv', inputs: [input], outputs, weights }, state);
  }

  /** The module has its weights as Qwen's do. */
  deltaRule(inputs: DeltaRule['inputs'], name: string, heads: DeltaHeads): Value {
    const { numKeyHeads, numValueHeads, keySize, valueSize } = heads;
    const keyWidth = numKeyHeads * keySize;
    const widths = [keyWidth, keyWidth, numValueHeads * valueSize, numValueHeads, numValueHeads];
    const isRight = inputs.every(({ width, per }, i) => width === widths[i] && per === 'token');
    const what = `deltaRule of ${numValueHeads} heads of ${keySize} by ${valueSize} values over ${numKeyHeads}`;
    require(isRight && numValueHeads % numKeyHeads === 0, what, ...inputs);
    const outputs = [{ ...inputs[2], name }] as const;
    const weights = [
      plainTensor(`${name}.A_log`, numValueHeads),
      plainTensor(`${name}.dt_bias`, numValueHeads),
    ] as const;
    const state = { kind: 'row', shape: [numValueHeads, keySize, valueSize], isSum: true } as const;
    return this.#add({ kind: 'deltaRule', inputs, outputs, weights, heads }, state);
  }

  /** @param numHeads Each head of the input has a part of each output. */
  split(input: Value, parts: readonly [Part, Part], numHeads?: number): readonly [Value, Value];
  split(input: Value, parts: readonly [Part, Part, Part]): readonly [Value, Value, Value];
  split(input: Value, parts: readonly [Part, ...Part[]], numHeads = 1): readonly Value[] {
    const valueOf = ({ name, size }: Part): Value => ({ ...input, name, width: numHeads * size });
    const [first, ...others] = parts;
    const outputs = [valueOf(first), ...others.map(valueOf)] as const;
    const width = outputs.reduce((sum, output) => sum + output.width, 0);
    require(width === input.width, `split of ${numHeads} heads into ${width} values`, input);
    this.#add({ kind: 'split', inputs: [input], outputs, weights: [], numHeads });
    return outputs;
  }

  activation(input: Value, activation: Activation): Value {
    const outputs = [{ ...input, name: `${input.name}.act` }] as const;
    return this.#add({ kind: 'activation', inputs: [input], outputs, weights: [], activation });
  }

  /** @param branch What is added to the residual stream. */
  add(residual: Value, branch: Value): Value {
    this.#numSums += 1;
    return this.#combine('add', [residual, branch], `x.${this.#numSums}`);
  }

  multiply(gate: Value, input: Value): Value {
    return this.#combine('multiply', [gate, input], `${input.name}.gated`);
  }

  scale(input: Value, factor: number): Value {
    const outputs = [{ ...input, name: `${input.name}.scaled` }] as const;
    return this.#add({ kind: 'scale', inputs: [input], outputs, weights: [], factor });
  }

  pool(input: Value): Value {
    const outputs = [{ ...input, name: 'pooled', per: 'text' }] as const;
    return this.#add({ kind: 'pool', inputs: [input], outputs, weights: [] });
  }

  /** @param matrix The table of the embedding, where the head is tied to it. */
  head(input: Value, matrix: ModelTensor): Value {
    const [width = 0, numInputs] = matrix.shape;
    require(numInputs === input.width, `head ${matrix.name} of ${numInputs} values`, input);
    const outputs = [{ ...input, name: 'logits', width }] as const;
    return this.#add({ kind: 'head', inputs: [input], outputs, weights: [matrix] });
  }

  /** @throws Error for a value that nothing reads. */
  end(output: Value): Program {
    this.#unread.delete(output);
    for (const { name } of this.#unread) throw new Error(`No operation reads ${name}`);
    const states = layerStatesOf(this.#layers, output);
    return { ops: this.#ops, weights: [...this.#weights.values()], output, states };
  }

  /** Layers share what they keep by their keys. */
  #requireSameState(inputs: Qkv, numKvHeads: number): void {
    const [, key, value] = inputs;
    for (const other of this.#ops) {
      if (other.kind !== 'attend' || other.inputs[1] !== key) continue;
      const isSame = other.inputs[2] === value && other.heads.numKvHeads === numKvHeads;
      require(isSame, `attend with the keys of ${other.outputs[0].name}, and other values or heads,`, ...inputs);
    }
  }

  #linear(
    input: Value,
    name: string,
    outputs: readonly [Value, ...Value[]],
    { hasBias = false, role = 'linear', isSensitive, parts }: LinearOptions,
  ): Value {
    const width = outputs.reduce((sum, output) => sum + output.width, 0);
    const named = (kind: string): Pick<ModelTensor, 'name' | 'sources'> => ({
      name: `${name}.${kind}`,
      ...(parts && {
        sources: outputs.map((output, i) => ({ name: `${parts[i]}.${kind}`, numRows: output.width })),
      }),
    });
    const shape = role === 'conv1d' ? [input.width, width] : [width, input.width];
    const matrix = { ...named('weight'), shape, role, ...(isSensitive && { isSensitive }) };
    const bias = { ...named('bias'), shape: [width], role: 'plain' } as const;
    return this.#add({
      kind: 'linear',
      inputs: [input],
      outputs,
      weights: hasBias ? [matrix, bias] : [matrix],
    });
  }

  #combine(kind: 'add' | 'multiply', inputs: readonly [Value, Value], name: string): Value {
    const [first, second] = inputs;
    require(first.width === second.width && first.per === second.per, kind, first, second);
    return this.#add({ kind, inputs, outputs: [{ ...first, name }], weights: [] });
  }

  #value(name: string, width: number): Value {
    return { name, width, per: 'token' };
  }

  /**
   * @param state What the operation keeps of a row, if anything.
   * @returns The first output.
   */
  #add(op: Op, state: LayerState | false = false): Value {
    for (const input of op.inputs) {
      if (this.#made.get(input.name) !== input)
        throw new Error(`${op.kind} reads ${input.name}, which no operation has made`);
      this.#unread.delete(input);
    }
    for (const output of op.outputs) {
      if (this.#made.has(output.name)) throw new Error(`Two operations make ${output.name}`);
      this.#made.set(output.name, output);
      this.#unread.add(output);
    }
    for (const tensor of op.weights) {
      if (tensor === undefined) continue;
      const known = this.#weights.get(tensor.name) ?? tensor;
      const shapes = [known, tensor].map(({ shape }) => `[${shape.join(', ')}]`);
      if (shapes[0] !== shapes[1]) throw new Error(`${tensor.name} is read as ${shapes.join(' and as ')}`);
      this.#weights.set(tensor.name, known);
    }
    this.#ops.push(op);
    if (state) this.#layers.push({ op, state });
    return op.outputs[0];
  }
}

/** The module of the checkpoint that a tensor is in. */
export function moduleOf({ name }: Pick<ModelTensor, 'name'>): string {
  return name.replace(/\.weight$/, '');
}

function require(isRight: boolean, what: string, ...inputs: readonly Value[]): void {
  if (isRight) return;
  const given = inputs.map(({ name, width, per }) => `${name} of ${width} values per ${per}`);
  throw new Error(`Wrong shape: ${what} gets ${given.join(', ')}`);
}

/** An operation of a layer, and what it keeps of a row. */
interface StatefulOp {
  readonly op: Op;
  readonly state: LayerState;
}

/** The state of each layer. None where the output is per text: such a model reads whole texts. */
function layerStatesOf(layers: readonly StatefulOp[], output: Value): readonly LayerState[] {
  if (output.per === 'text') return [];
  return layers.map(({ op, state }, index) => {
    const layer = layers.findIndex((other) => haveSameKeys(other.op, op));
    return layer < 0 || layer === index ? state : { kind: 'shared', layer };
  });
}

function haveSameKeys(a: Op, b: Op): boolean {
  return a.kind === 'attend' && b.kind === 'attend' && a.inputs[1] === b.inputs[1];
}
