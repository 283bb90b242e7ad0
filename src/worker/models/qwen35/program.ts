import { wordTensors } from '../program/model-config.ts';
import { ProgramBuilder } from '../program/program-builder.ts';
import type { NormShape, Program, Qkv, Value } from '../program/program.ts';
import type { Qwen35Config } from './config.ts';

const isSensitive = true;

export function qwen35Program(config: Qwen35Config): Program {
  const { vocabSize, width, layerTypes, isHeadSeparate } = config;
  const model = new ProgramBuilder();
  const { words, head } = wordTensors('embed_tokens.weight', [vocabSize, width], isHeadSeparate);
  let x = model.embed('token', words);
  for (const [i, type] of layerTypes.entries()) {
    const name = `layers.${i}`;
    const normed = norm(model, x, `${name}.input_layernorm`, config);
    const mix = type === 'full_attention' ? attention : linearAttention;
    x = model.add(x, mix(model, normed, name, config));
    x = model.add(
      x,
      mlp(model, norm(model, x, `${name}.post_attention_layernorm`, config), `${name}.mlp`, config),
    );
  }
  return model.end(model.head(norm(model, x, 'norm', config), head));
}

function normShape({ normEpsilon: epsilon }: Qwen35Config): NormShape {
  return { method: 'rms', epsilon, gainOffset: 1 };
}

function norm(
  model: ProgramBuilder,
  x: Value,
  name: string,
  config: Qwen35Config,
  size: number = x.width,
): Value {
  return model.norm(x, name, normShape(config), size);
}

/** Each head of the queries' matrix has a gate behind it, by which what attention gives is multiplied. */
function attention(model: ProgramBuilder, x: Value, layer: string, config: Qwen35Config): Value {
  const { numHeads, numKvHeads, headSize, rope, width } = config;
  const name = `${layer}.self_attn`;
  const options = { isSensitive } as const;
  const both = model.linear(x, `${name}.q_proj`, 2 * numHeads * headSize, options);
  const parts = [
    { name: `${name}.query`, size: headSize },
    { name: `${name}.gate`, size: headSize },
  ] as const;
  const [query, gate] = model.split(both, parts, numHeads);
  const key = model.linear(x, `${name}.k_proj`, numKvHeads * headSize, options);
  const qkv: Qkv = [
    norm(model, query, `${name}.q_norm`, config, headSize),
    norm(model, key, `${name}.k_norm`, config, headSize),
    model.linear(x, `${name}.v_proj`, numKvHeads * headSize, options),
  ];
  const shape = { scale: 1 / Math.sqrt(headSize), isCausal: true };
  const attended = model.attend(model.rotary(qkv, rope, headSize), name, config, shape);
  const gated = model.multiply(model.activation(gate, 'sigmoid'), attended);
  return model.linear(gated, `${name}.o_proj`, width);
}

function linearAttention(model: ProgramBuilder, x: Value, layer: string, config: Qwen35Config): Value {
  const { deltaHeads, convLength, width, activation, normEpsilon: epsilon } = config;
  const { numKeyHeads, numValueHeads, keySize, valueSize } = deltaHeads;
  const name = `${layer}.linear_attn`;
  const [keyWidth, valueWidth] = [numKeyHeads * keySize, numValueHeads * valueSize];
  const joined = model.linear(x, `${name}.in_proj_qkv`, 2 * keyWidth + valueWidth, { isSensitive });
  const convolved = model.activation(model.shortConv(joined, `${name}.conv1d`, convLength), activation);
  const [query, key, value] = model.split(convolved, [
    { name: `${name}.query`, size: keyWidth },
    { name: `${name}.key`, size: keyWidth },
    { name: `${name}.value`, size: valueWidth },
  ]);
  const decay = model.linear(x, `${name}.in_proj_a`, numValueHeads, { isSensitive });
  const beta = model.linear(x, `${name}.in_proj_b`, numValueHeads, { isSensitive });
  const read = model.deltaRule([query, key, value, decay, beta], name, deltaHeads);
  const gate = model.activation(model.linear(x, `${name}.in_proj_z`, valueWidth), 'silu');
  const normed = model.norm(read, `${name}.norm`, { method: 'rms', epsilon }, valueSize);
  return model.linear(model.multiply(gate, normed), `${name}.out_proj`, width);
}

function mlp(model: ProgramBuilder, x: Value, name: string, config: Qwen35Config): Value {
  const { width, innerSize, activation } = config;
  const gate = model.linear(x, `${name}.gate_proj`, innerSize);
  const up = model.linear(x, `${name}.up_proj`, innerSize);
  const gated = model.multiply(model.activation(gate, activation), up);
  return model.linear(gated, `${name}.down_proj`, width, { isSensitive });
}
