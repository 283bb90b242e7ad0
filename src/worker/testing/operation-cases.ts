import type { EncoderConfig, Pooling } from '../models/encoder/encoder-config.ts';
import type { Model } from '../models/family.ts';
import {
  plainTensor,
  type DeltaHeads,
  type Heads,
  type ModelTensor,
} from '../models/program/model-config.ts';
import type { Activation } from '../models/program/activation.ts';
import { ProgramBuilder } from '../models/program/program-builder.ts';
import type { AttentionShape, NormShape, Program, Qkv, Value } from '../models/program/program.ts';
import type { Rope } from '../models/program/rope.ts';
import { gatedConv } from './hybrid-family.ts';

/** What stands between the embedding and the head. */
export type Layers = (model: ProgramBuilder, x: Value) => Value;

/** Widths are those that no kernel's tile divides. */
const WIDTH = 33;
const INNER_WIDTH = 100;
const CONTEXT_LENGTH = 64;
const WORDS: ModelTensor = { name: 'words.weight', shape: [37, WIDTH], role: 'embedding' };
/** `GroupQueryAttention` rotates heads of multiples of 16 alone. */
const HEADS: Heads = { numHeads: 4, numKvHeads: 2, headSize: 16 };

const RMS: NormShape = { method: 'rms', epsilon: 1e-6 };
const LAYER: NormShape = { method: 'layer', epsilon: 1e-5 };
const hasBias = true;
/** Of an encoder. */
const FULL = { isCausal: false } as const;

interface Attention extends Partial<AttentionShape> {
  readonly name?: string;
  readonly heads?: Heads;
  readonly rope?: Rope;
  readonly role?: 'conv1d';
}

/** Values as wide as those that go in. */
function attention(model: ProgramBuilder, x: Value, given: Attention = {}): Value {
  const { name = 'attention', heads = HEADS, rope, role = 'linear', ...shape } = given;
  const qkv = model.qkv(x, `${name}.qkv_proj`, heads, { role });
  return model.linear(attend(model, qkv, name, heads, shape, rope), `${name}.output`, x.width, { role });
}

function attend(
  model: ProgramBuilder,
  qkv: Qkv,
  name: string,
  heads: Heads,
  shape: Partial<AttentionShape> = {},
  rope?: Rope,
): Value {
  const scale = 1 / Math.sqrt(heads.headSize);
  const rotated = rope ? model.rotary(qkv, rope, heads.headSize) : qkv;
  return model.attend(rotated, name, heads, { scale, isCausal: true, ...shape });
}

/** Attention to keys as they are, and to the same ones turned. */
function bothKeys(model: ProgramBuilder, x: Value, shape: Partial<AttentionShape> = {}): Value {
  const qkv = model.qkv(x, 'qkv', HEADS);
  const rotated = attend(model, qkv, 'rotated', HEADS, shape, ropeOf(16));
  return model.linear(model.add(rotated, attend(model, qkv, 'plain', HEADS, shape)), 'output', WIDTH);
}

/** The operation's values, and what attention makes of those of all tokens before. */
function attended(operation: Layers, given: Attention = {}): Layers {
  return (model, x) => {
    const y = operation(model, x);
    return model.add(y, attention(model, y, given));
  };
}

function only(given: Attention): Layers {
  return (model, x) => attention(model, x, given);
}

/** There and back. */
function products(width: number, options: { readonly hasBias?: boolean } = {}): Layers {
  return (model, x) => model.linear(model.linear(x, 'inner', width, options), 'outer', WIDTH, options);
}

function mlp(
  activation: Activation,
  options: { readonly hasBias?: boolean; readonly role?: 'conv1d' } = {},
): Layers {
  return (model, x) => {
    const inner = model.activation(model.linear(x, 'inner', INNER_WIDTH, options), activation);
    return model.linear(inner, 'outer', WIDTH, options);
  };
}

const gated: Layers = (model, x) => {
  const gate = model.activation(model.linear(x, 'gate', INNER_WIDTH), 'silu');
  return model.linear(model.multiply(gate, model.linear(x, 'up', INNER_WIDTH)), 'down', WIDTH);
};

/** A matrix for queries, keys and values each. */
function normedHeads(shape: NormShape): Layers {
  return (model, x) => {
    const { numHeads, numKvHeads, headSize } = HEADS;
    const query = model.linear(x, 'query', numHeads * headSize, { hasBias });
    const key = model.linear(x, 'key', numKvHeads * headSize);
    const value = model.linear(x, 'value', numKvHeads * headSize);
    const normed = [
      model.norm(query, 'query_norm', shape, headSize),
      model.norm(key, 'key_norm', shape, headSize),
      value,
    ] as const;
    return model.linear(attend(model, normed, 'attention', HEADS, {}, ropeOf(16)), 'output', WIDTH);
  };
}

/** A branch with a bias, whose norm is read together with the sum, or instead of it. */
function normedSum(shape: NormShape, isSumRead: boolean): Layers {
  return (model, x) => {
    const sum = model.add(x, model.linear(x, 'branch', WIDTH, { hasBias }));
    const normed = model.norm(sum, 'norm', shape);
    const other = model.linear(normed, 'other', WIDTH);
    return model.add(isSumRead ? sum : normed, other);
  };
}

function ropeOf(headSize: number, change: Partial<Rope> = {}): Rope {
  const frequencies = Array.from({ length: headSize / 2 }, (_, i) =>
    Math.fround(100 ** ((-2 * i) / headSize)),
  );
  return { frequencies, attentionFactor: 1, ...change };
}

const twoLayers =
  (first: Attention, second: Attention): Layers =>
  (model, x) => {
    const y = model.add(x, attention(model, x, { ...first, name: 'first' }));
    return model.add(y, attention(model, y, { ...second, name: 'second' }));
  };

/** Queries, keys and values side by side, as a checkpoint of linear attention has them. */
function linearAttention(heads: DeltaHeads): Layers {
  const { numKeyHeads, numValueHeads, keySize, valueSize } = heads;
  return (model, x) => {
    const [keyWidth, valueWidth] = [numKeyHeads * keySize, numValueHeads * valueSize];
    const qkv = model.linear(x, 'qkv', 2 * keyWidth + valueWidth);
    const [query, key, value] = model.split(qkv, [
      { name: 'query', size: keyWidth },
      { name: 'key', size: keyWidth },
      { name: 'value', size: valueWidth },
    ]);
    const decay = model.linear(x, 'decay', numValueHeads);
    const beta = model.linear(x, 'beta', numValueHeads);
    return model.linear(model.deltaRule([query, key, value, decay, beta], 'delta', heads), 'output', WIDTH);
  };
}

/** Each head has its part of two values. */
const splitHeads: Layers = (model, x) => {
  const parts = [
    { name: 'input', size: 5 },
    { name: 'gate', size: 5 },
  ] as const;
  const [input, gate] = model.split(model.linear(x, 'both', 30), parts, 3);
  const normed = model.norm(input, 'norm', RMS, 5);
  return model.linear(model.multiply(model.activation(gate, 'sigmoid'), normed), 'output', WIDTH);
};

const positions: Layers = (model, x) =>
  model.add(model.embed('position', plainTensor('positions.weight', CONTEXT_LENGTH, WIDTH)), x);

const ACTIVATIONS = ['gelu_tanh', 'gelu_erf', 'quick_gelu', 'relu', 'silu', 'tanh', 'sigmoid'] as const;

/** Each operation, and those that a reader may compute together. By what they are. */
export const DECODER_CASES = {
  'embeddings of tokens and positions': attended(positions),
  'a scale': attended((model, x) => model.scale(x, Math.sqrt(WIDTH))),
  'a norm by the root mean square': attended((model, x) => model.norm(x, 'norm', RMS)),
  'a norm whose gains have an offset': attended((model, x) =>
    model.norm(x, 'norm', { ...RMS, gainOffset: 1 }),
  ),
  'a norm by the deviation': attended((model, x) => model.norm(x, 'norm', LAYER)),
  'norms of the heads of queries and keys': normedHeads(RMS),
  'norms of heads whose gains have an offset': normedHeads({ ...RMS, gainOffset: 1 }),
  'a norm by the root mean square behind a sum that is read too': attended(normedSum(RMS, true)),
  'a norm by the root mean square in place of its sum': attended(normedSum(RMS, false)),
  'a norm by the deviation behind a sum that is read too': attended(normedSum(LAYER, true)),
  'a norm by the deviation in place of its sum': attended(normedSum(LAYER, false)),
  'a product': attended(products(INNER_WIDTH)),
  'a product with biases': attended(products(INNER_WIDTH, { hasBias })),
  'a product with one output': attended(products(1)),
  'a product with a matrix [in, out]': attended(
    (model, x) => model.linear(x, 'linear', WIDTH, { role: 'conv1d' }),
    {
      role: 'conv1d',
    },
  ),
  'a product with a matrix [in, out] and biases': attended(mlp('relu', { role: 'conv1d', hasBias }), {
    role: 'conv1d',
  }),
  'a product of two values': attended(gated),
  ...Object.fromEntries(
    ACTIVATIONS.flatMap((activation) => [
      [`the activation ${activation}`, attended(mlp(activation))],
      [`the activation ${activation} behind biases`, attended(mlp(activation, { hasBias }))],
    ]),
  ),
  rotary: only({ rope: ropeOf(16) }),
  'rotary of the first quarter of heads': only({
    heads: { numHeads: 4, numKvHeads: 2, headSize: 64 },
    rope: ropeOf(16),
  }),
  'rotary with a factor': only({ rope: ropeOf(16, { attentionFactor: 1.25 }) }),
  'rotary that leaves pairs as they are': only({
    rope: ropeOf(16, { frequencies: [1, 0.5, 0.25, 0.125, 0, 0, 0, 0] }),
  }),
  'rotary of two layers by different frequencies': twoLayers(
    { rope: ropeOf(16) },
    { rope: ropeOf(16, { frequencies: ropeOf(16).frequencies.map((frequency) => frequency / 2) }) },
  ),
  'attention of one head': only({ heads: { numHeads: 1, numKvHeads: 1, headSize: 16 } }),
  'attention of as many heads of keys as of queries': only({
    heads: { numHeads: 3, numKvHeads: 3, headSize: 8 },
  }),
  'attention of six heads over two': only({ heads: { numHeads: 6, numKvHeads: 2, headSize: 8 } }),
  'attention of five heads over one': only({ heads: { numHeads: 5, numKvHeads: 1, headSize: 24 } }),
  'attention of long heads': only({
    heads: { numHeads: 2, numKvHeads: 1, headSize: 144 },
    rope: ropeOf(144),
  }),
  'attention with a scale of its own': only({ scale: 1 }),
  'attention to keys before their rotation and after it': (model, x) => bothKeys(model, x),
  'attention to the token alone': twoLayers({ window: 1 }, {}),
  'attention in a window': only({ window: 3 }),
  'attention in a window as long as the context': only({ window: CONTEXT_LENGTH }),
  'attention in a window in one of two layers': twoLayers({ window: 4, rope: ropeOf(16) }, {}),
  'a short convolution': attended((model, x) => model.shortConv(x, 'conv', 3)),
  'a short convolution of four tokens with a bias': attended((model, x) =>
    model.shortConv(x, 'conv', 4, { hasBias }),
  ),
  'the parts of heads': attended(splitHeads),
  'the gated delta rule': attended(
    linearAttention({ numKeyHeads: 2, numValueHeads: 2, keySize: 16, valueSize: 16 }),
  ),
  'the gated delta rule with three heads of values for each key': attended(
    linearAttention({ numKeyHeads: 2, numValueHeads: 6, keySize: 12, valueSize: 20 }),
  ),
  'a short convolution of two tokens between gates': attended((model, x) => gatedConv(model, x, 'gated', 2)),
  'two short convolutions around attention': (model, x) => {
    const y = attended((_, first) => model.shortConv(first, 'first', 3), { rope: ropeOf(16) })(model, x);
    return model.shortConv(y, 'second', 3);
  },
} as const satisfies Readonly<Record<string, Layers>>;

/** @param hasOwnHead Whether the head is not the embedding. */
export function decoderOf(layers: Layers, hasOwnHead = false): Model {
  const model = new ProgramBuilder();
  const head = hasOwnHead ? ({ ...WORDS, name: 'head.weight', role: 'linear' } as const) : WORDS;
  return modelOf(model.end(model.head(layers(model, model.embed('token', WORDS)), head)));
}

/** What is pooled, and what becomes of the vector. */
export interface EncoderCase {
  readonly pooling: Pooling;
  readonly layers: Layers;
  readonly dense?: Layers;
}

const types: Layers = (model, x) => model.add(model.embed('type', plainTensor('types.weight', 2, WIDTH)), x);

export const ENCODER_CASES: Readonly<Record<string, EncoderCase>> = {
  'a mean, of tokens that attend to all': { pooling: 'mean', layers: only(FULL) },
  'a mean, of tokens that attend to earlier ones': {
    pooling: 'mean',
    layers: only({ rope: ropeOf(16) }),
  },
  'the first token': { pooling: 'cls', layers: only({ ...FULL, rope: ropeOf(16) }) },
  'the last token, of heads whose first half turns': {
    pooling: 'last',
    layers: only({ heads: { ...HEADS, headSize: 32 }, rope: ropeOf(16) }),
  },
  'the last token': { pooling: 'last', layers: only({}) },
  'attention to keys before their rotation and after it': {
    pooling: 'mean',
    layers: (model, x) => bothKeys(model, x, FULL),
  },
  'a sum by the root of the length': { pooling: 'sqrt-mean', layers: only(FULL) },
  'a mean by position': { pooling: 'weighted-mean', layers: attended(positions, FULL) },
  'pairs of texts': { pooling: 'mean', layers: attended(types, FULL) },
  'a norm behind a sum of embeddings': {
    pooling: 'cls',
    layers: attended((model, x) => model.norm(types(model, x), 'norm', LAYER), FULL),
  },
  'a score': {
    pooling: 'cls',
    layers: attended(types, FULL),
    dense: (model, x) =>
      model.linear(model.activation(model.linear(x, 'pooler', WIDTH, { hasBias }), 'tanh'), 'classifier', 1, {
        hasBias,
      }),
  },
};

export function encoderOf({
  pooling,
  layers,
  dense,
}: EncoderCase): Model & { readonly encoder: EncoderConfig } {
  const builder = new ProgramBuilder();
  const pooled = builder.pool(layers(builder, builder.embed('token', WORDS)));
  const output = dense ? dense(builder, pooled) : pooled;
  const model = modelOf(builder.end(output));
  const encoder = {
    task: 'embed',
    maxTokens: CONTEXT_LENGTH,
    dimensions: output.width,
    pooling,
    isNormalized: false,
    prompts: {},
  } as const;
  return { ...model, config: { ...model.config, isEncoder: true }, encoder };
}

function modelOf(program: Program): Model {
  const attends = program.ops.filter((op) => op.kind === 'attend');
  const heads = attends[0]?.heads ?? HEADS;
  const config = {
    ...heads,
    vocabSize: 37,
    contextLength: CONTEXT_LENGTH,
    numLayers: attends.length,
    eosTokenIds: [],
  };
  return { config, program, tensorPrefix: '', skipTensor: () => undefined };
}
