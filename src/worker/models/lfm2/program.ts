import { wordTensors } from '../program/model-config.ts';
import { ProgramBuilder } from '../program/program-builder.ts';
import type { Program, Qkv, Value } from '../program/program.ts';
import type { Lfm2Config } from './config.ts';

const isSensitive = true;

export function lfm2Program(config: Lfm2Config): Program {
  const { vocabSize, width, layers, isHeadSeparate } = config;
  const model = new ProgramBuilder();
  const norm = normOf(model, config);
  const { words, head } = wordTensors('embed_tokens.weight', [vocabSize, width], isHeadSeparate);
  let x = model.embed('token', words);
  for (const [i, type] of layers.entries()) {
    const name = `layers.${i}`;
    const branch = type === 'conv' ? gatedConv : attention;
    x = model.add(x, branch(model, norm(x, `${name}.operator_norm`), name, config));
    x = model.add(x, mlp(model, norm(x, `${name}.ffn_norm`), `${name}.feed_forward`, config));
  }
  return model.end(model.head(norm(x, 'embedding_norm'), head));
}

function normOf(model: ProgramBuilder, { normEpsilon: epsilon }: Lfm2Config) {
  return (x: Value, name: string, size = x.width): Value =>
    model.norm(x, name, { method: 'rms', epsilon }, size);
}

/** The convolution's input and its output are both multiplied by products of the layer's input. */
function gatedConv(
  model: ProgramBuilder,
  x: Value,
  layer: string,
  { width, convLength, hasConvBias: hasBias }: Lfm2Config,
): Value {
  const name = `${layer}.conv`;
  const products = model.linear(x, `${name}.in_proj`, 3 * width, { hasBias, isSensitive });
  const part = (of: string) => ({ name: `${name}.in_proj.${of}`, size: width });
  const [before, after, input] = model.split(products, [part('before'), part('after'), part('input')]);
  const convolved = model.shortConv(model.multiply(before, input), `${name}.conv`, convLength, { hasBias });
  return model.linear(model.multiply(after, convolved), `${name}.out_proj`, width, { hasBias });
}

function attention(model: ProgramBuilder, x: Value, layer: string, config: Lfm2Config): Value {
  const { numHeads, numKvHeads, headSize, rope, width } = config;
  const name = `${layer}.self_attn`;
  const norm = normOf(model, config);
  const part = (of: string, num: number): Value =>
    model.linear(x, `${name}.${of}_proj`, num * headSize, { isSensitive });
  const [query, key, value] = [part('q', numHeads), part('k', numKvHeads), part('v', numKvHeads)];
  const qkv: Qkv = [
    norm(query, `${name}.q_layernorm`, headSize),
    norm(key, `${name}.k_layernorm`, headSize),
    value,
  ];
  const shape = { scale: 1 / Math.sqrt(headSize), isCausal: true };
  return model.linear(model.attend(model.rotary(qkv, rope), name, config, shape), `${name}.out_proj`, width);
}

function mlp(model: ProgramBuilder, x: Value, name: string, { width, innerSize }: Lfm2Config): Value {
  const gate = model.activation(model.linear(x, `${name}.w1`, innerSize), 'silu');
  const gated = model.multiply(gate, model.linear(x, `${name}.w3`, innerSize));
  return model.linear(gated, `${name}.w2`, width, { isSensitive });
}
