import { moduleOf } from '../program/program-builder.ts';
import type {
  Add,
  Attend,
  DeltaRule,
  Embed,
  Linear,
  Norm,
  Op,
  Program,
  ShortConv,
  Split,
  Value,
} from '../program/program.ts';
import { rotaryTables, type Rope } from '../program/rope.ts';
import { addDeltaRule } from './delta-rule.ts';
import { GraphBuilder, type GraphTarget } from './graph-builder.ts';
import { GRAPH_IO } from './graph-io.ts';
import type { RotaryTables } from './joined-qkv.ts';
import type { Activation } from '../program/activation.ts';
import type { OnnxNode } from './onnx-proto.ts';

/**
 * Writes a program as an ONNX model for onnxruntime-web, with the inputs and outputs of `GRAPH_IO`.
 *
 * @param target The attention of an encoder is `uncached`.
 */
export function writeGraph(program: Program, target: GraphTarget): Uint8Array<ArrayBuffer> {
  return new GraphWriter(program, target).write();
}

/** The input by which each kind of lookup finds its row. */
const INDICES = { token: GRAPH_IO.ids, position: GRAPH_IO.positions, type: GRAPH_IO.types } as const;

/** Divide by the deviation or the root mean square; `behindSum` adds two values first, and outputs their sum too. */
const NORMS = {
  layer: { alone: 'LayerNormalization', behindSum: 'SkipLayerNormalization' },
  rms: { alone: 'SimplifiedLayerNormalization', behindSum: 'SkipSimplifiedLayerNormalization' },
} as const;

/** Adds a program's operations to a graph. Those that one operator computes are added together, by the last of them. */
class GraphWriter {
  readonly #program: Program;
  readonly #graph: GraphBuilder;
  readonly #contextLength: number;
  /** The first operation that reads a value. */
  readonly #readers = new Map<Value, Op>();
  /** Names of values in the graph, where they have another one than in the program. */
  readonly #names = new Map<Value, string>();
  /** Biases that the operator of the reader adds. */
  readonly #biases = new Map<Value, string>();
  /** Sums that the operator of the norm behind them computes. */
  readonly #sums = new Map<Value, Add>();
  readonly #rotary = new Map<Value, RotaryTables>();
  /** Layers that rotate alike share them. */
  readonly #tables = new Map<Rope, RotaryTables>();

  constructor(program: Program, target: GraphTarget) {
    if (program.states.some(({ kind }) => kind === 'shared'))
      throw new Error('The graph has no inputs for the keys and values of another layer');
    this.#program = program;
    this.#graph = new GraphBuilder(target);
    this.#contextLength = target.contextLength;
    for (const op of program.ops.toReversed()) for (const input of op.inputs) this.#readers.set(input, op);
  }

  write(): Uint8Array<ArrayBuffer> {
    const { ops, output } = this.#program;
    for (const op of ops) this.#write(op);
    if (output.per === 'text') this.#graph.addEncoded(this.#nameOf(output), output.width);
    return this.#graph.encode();
  }

  #write(op: Op): void {
    const [output] = op.outputs;
    const inputs = op.inputs.map((input) => this.#nameOf(input));
    const [input = ''] = inputs;
    const { nodes } = this.#graph;
    if (op.kind === 'embed') this.#embed(op);
    else if (op.kind === 'norm') this.#norm(op);
    else if (op.kind === 'linear') this.#linear(op);
    else if (op.kind === 'attend') this.#attend(op);
    else if (op.kind === 'add') this.#add(op, inputs);
    else if (op.kind === 'multiply') nodes.add('Mul', inputs, [output.name]);
    else if (op.kind === 'scale') nodes.add('Mul', [input, this.#constant(op.factor)], [output.name]);
    else if (op.kind === 'pool') this.#pool(input, output);
    else if (op.kind === 'head') this.#graph.addHead(input, op.weights[0]);
    else if (op.kind === 'activation') {
      const bias = this.#biases.get(op.inputs[0]);
      nodes.push(activationNode(op.activation, { input, bias, output: output.name }));
    } else if (op.kind === 'rotary') {
      for (const [i, rotated] of op.outputs.entries()) this.#names.set(rotated, inputs[i] ?? '');
      this.#rotary.set(output, this.#tablesOf(op.rope));
    } else if (op.kind === 'shortConv') this.#shortConv(op);
    else if (op.kind === 'deltaRule') this.#deltaRule(op, inputs);
    else this.#split(op);
  }

  #embed({ by, weights: [table], outputs: [output] }: Embed): void {
    const { nodes, weights } = this.#graph;
    // Tables of positions and types are plain tensors.
    if (table.role === 'embedding') weights.lookUp(INDICES[by], table.name, output.name);
    else nodes.add('Gather', [table.name, INDICES[by]], [output.name]);
    this.#toRows(output);
  }

  #norm({ inputs: [input], outputs: [output], weights: [gain, bias], ...norm }: Norm): void {
    const graph = this.#graph;
    const [size = 0] = gain.shape;
    const sum = this.#sums.get(input);
    const weights = [norm.gainOffset ? this.#offset(gain.name) : gain.name, ...(bias ? [bias.name] : [])];
    const { alone, behindSum } = NORMS[norm.method];
    const epsilon = { float: norm.epsilon };
    if (sum) {
      const [residual, branch] = sum.inputs;
      const terms = [this.#nameOf(branch), this.#nameOf(residual)];
      const branchBias = norm.method === 'layer' ? [this.#biases.get(branch) ?? ''] : [];
      const outputs = [output.name, '', '', `${output.name}.sum`];
      graph.nodes.addFused(behindSum, [...terms, ...weights, ...branchBias], outputs, { epsilon });
      this.#names.set(input, `${output.name}.sum`);
    } else {
      const name = this.#nameOf(input);
      const heads = `${name}.heads`;
      if (size < input.width) graph.flatten(name, size, heads);
      const axis = { int: -1 };
      graph.nodes.add(alone, [size < input.width ? heads : name, ...weights], [output.name], {
        axis,
        epsilon,
      });
    }
    const named = this.#forReader(output, output.name);
    if (named === output.name && size < input.width) this.#toRows(output);
    else this.#names.set(output, named);
  }

  #add(op: Add, inputs: string[]): void {
    const [output] = op.outputs;
    if (this.#normBehind(output)) this.#sums.set(output, op);
    else this.#graph.nodes.add('Add', inputs, [output.name]);
  }

  #linear({ inputs: [input], outputs, weights: [matrix, bias] }: Linear): void {
    const { weights } = this.#graph;
    const name = moduleOf(matrix);
    const isLater = bias && this.#readerAdds(outputs[0]);
    const added = bias && !isLater ? bias.name : '';
    if (isLater) this.#biases.set(outputs[0], bias.name);
    if (matrix.role === 'linear') weights.project(this.#nameOf(input), matrix.name, name, added);
    else weights.multiply(this.#nameOf(input), matrix.name, name, added);
    const named = this.#forReader(outputs[0], name);
    for (const output of outputs) this.#names.set(output, named);
  }

  #attend({ inputs: [query, key, value], outputs: [output], heads, scale, window }: Attend): void {
    const names = { query: this.#nameOf(query), key: this.#nameOf(key), value: this.#nameOf(value) };
    this.#graph.addAttention(names.query === names.value ? names.query : names, output.name, {
      heads,
      scale,
      rotary: this.#rotary.get(query),
      // WebGPU has faster kernels without a window, and one as long as the longest sequence changes nothing.
      window: window !== undefined && window < this.#contextLength ? window : undefined,
    });
    this.#toRows(output);
  }

  #shortConv({ inputs: [input], outputs: [output], weights: [kernel, bias] }: ShortConv): void {
    this.#graph.addShortConv(this.#nameOf(input), output.name, kernel, bias?.name ?? '');
    this.#toRows(output);
  }

  #deltaRule({ outputs: [output], weights, heads }: DeltaRule, inputs: readonly string[]): void {
    this.#names.set(output, addDeltaRule(this.#graph, { inputs, output: output.name, weights, heads }));
    this.#toRows(output);
  }

  /** Each head is a row of its own where it has parts of all outputs. */
  #split({ inputs: [input], outputs, numHeads }: Split): void {
    const { nodes, weights } = this.#graph;
    const names = outputs.map((output) => (numHeads > 1 ? `${output.name}.parts` : output.name));
    const heads = numHeads > 1 ? `${outputs[0].name}.split` : this.#nameOf(input);
    if (numHeads > 1) this.#graph.flatten(this.#nameOf(input), input.width / numHeads, heads);
    const sizes = weights.list(...outputs.map(({ width }) => width / numHeads));
    nodes.add('Split', [heads, sizes], names, { axis: { int: -1 } });
    for (const [i, output] of outputs.entries()) {
      if (numHeads > 1) this.#graph.flatten(names[i] ?? '', output.width, output.name);
      this.#names.set(output, this.#forReader(output, output.name));
    }
  }

  #pool(input: string, output: Value): void {
    const pooled = this.#graph.pool(input, output.width);
    this.#names.set(output, output === this.#program.output ? pooled : this.#graph.narrow(pooled));
  }

  /** onnxruntime adds constants once, when it creates the session: in float32, for which alone it has a kernel then. */
  #offset(gain: string): string {
    const one = this.#graph.weights.wideConstant('value_1.wide', Float32Array.of(1));
    this.#graph.nodes.add('Add', [this.#graph.widen(gain), one], [`${gain}.offset`]);
    return this.#graph.narrow(`${gain}.offset`);
  }

  #constant(value: number): string {
    return this.#graph.weights.constant(`value_${value}`, Float32Array.of(value));
  }

  /** Tokens are rows of [B * S, width], as products that add a bias take them. */
  #toRows(value: Value): void {
    this.#graph.flatten(this.#nameOf(value), value.width, `${value.name}.rows`);
    this.#names.set(value, `${value.name}.rows`);
  }

  /** Attention takes tokens as [B, S, width]. Returns the name of those. */
  #forReader(value: Value, name: string): string {
    const reader = this.#readers.get(value)?.kind;
    if (reader !== 'rotary' && reader !== 'attend') return name;
    this.#graph.unflatten(name, `${name}.batch`);
    return `${name}.batch`;
  }

  /** The norm whose operator computes this sum too. */
  #normBehind(sum: Value): Norm | undefined {
    const reader = this.#readers.get(sum);
    return reader?.kind === 'norm' && reader.weights[0].shape[0] === sum.width ? reader : undefined;
  }

  /** Whether the operator that reads a product adds its bias. */
  #readerAdds(product: Value): boolean {
    const reader = this.#readers.get(product);
    if (reader?.kind === 'activation') return canAddBias(reader.activation);
    const isBranch = reader?.kind === 'add' && reader.inputs[1] === product;
    return isBranch && this.#normBehind(reader.outputs[0])?.method === 'layer';
  }

  #tablesOf(rope: Rope): RotaryTables {
    const made = this.#tables.get(rope);
    if (made) return made;
    const dims = [this.#contextLength, rope.frequencies.length];
    const { cos, sin } = rotaryTables(rope, this.#contextLength);
    const name = `rotary_${this.#tables.size}`;
    const { weights } = this.#graph;
    const tables = {
      numPairs: rope.frequencies.length,
      cos: weights.constant(`${name}_cos`, cos, ...dims),
      sin: weights.constant(`${name}_sin`, sin, ...dims),
    };
    this.#tables.set(rope, tables);
    return tables;
  }

  /** The name of a value's tensor. */
  #nameOf(value: Value): string {
    return this.#names.get(value) ?? value.name;
  }
}

type Operator = Pick<OnnxNode, 'opType' | 'domain' | 'attributes'>;

/** The operators of ONNX and ONNX Runtime. `withBias` adds the bias itself; not every activation has such an operator. */
const OPERATORS: Readonly<
  Record<Activation, { readonly withBias?: Operator; readonly withoutBias: Operator }>
> = {
  gelu_tanh: { withBias: fused('FastGelu'), withoutBias: fused('FastGelu') },
  gelu_erf: { withBias: fused('BiasGelu'), withoutBias: fused('Gelu') },
  quick_gelu: { withoutBias: quickGelu(1.702) },
  silu: { withoutBias: quickGelu(1) },
  relu: { withoutBias: { opType: 'Relu', domain: '' } },
  tanh: { withoutBias: { opType: 'Tanh', domain: '' } },
  sigmoid: { withoutBias: { opType: 'Sigmoid', domain: '' } },
};

function fused(opType: string): Operator {
  return { opType, domain: 'com.microsoft' };
}

function quickGelu(alpha: number): Operator {
  return { ...fused('QuickGelu'), attributes: { alpha: { float: alpha } } };
}

function canAddBias(activation: Activation): boolean {
  return OPERATORS[activation].withBias !== undefined;
}

/** output = activation(input + bias) */
function activationNode(
  activation: Activation,
  {
    input,
    bias,
    output,
  }: { readonly input: string; readonly bias: string | undefined; readonly output: string },
): OnnxNode {
  const { withBias, withoutBias } = OPERATORS[activation];
  if (bias === undefined || !withBias) return { ...withoutBias, inputs: [input], outputs: [output] };
  return { ...withBias, inputs: [input, bias], outputs: [output] };
}
