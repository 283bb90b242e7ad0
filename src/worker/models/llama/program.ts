import { wordTensors } from '../program/model-config.ts';
import { ProgramBuilder } from '../program/program-builder.ts';
import type { Program, Qkv, Value } from '../program/program.ts';
import type { LlamaConfig } from './config.ts';
import type { LayerConfig } from './layers.ts';

const isSensitive = true;

export function llamaProgram(config: LlamaConfig): Program {
  const { vocabSize, width, layers, embeddingScale, logitScale, isHeadSeparate, isEncoder } = config;
  const model = new ProgramBuilder();
  const norm = normOf(model, config);
  const { words, head } = wordTensors('embed_tokens.weight', [vocabSize, width], isHeadSeparate);
  let x = model.embed('token', words);
  if (embeddingScale !== 1) x = model.scale(x, embeddingScale);
  for (const [i, layer] of layers.entries()) {
    const name = `layers.${i}`;
    const { ofAttention, ofMlp } = normNames(config.norms);
    const normed = (value: Value, module: string | undefined): Value =>
      module === undefined ? value : norm(value, `${name}.${module}`);
    const attended = attention(model, normed(x, ofAttention.input), `${name}.self_attn`, config, layer);
    x = model.add(x, normed(attended, ofAttention.output));
    const output = mlp(model, normed(x, ofMlp.input), name, config);
    x = model.add(x, normed(output, ofMlp.output));
  }
  x = norm(x, 'norm');
  if (isEncoder) return model.end(model.pool(x));
  if (logitScale !== 1) x = model.scale(x, logitScale);
  return model.end(model.head(x, head));
}

/** Modules of a layer's norms. */
function normNames({ ofInputs, ofOutputs }: LlamaConfig['norms']) {
  const [input, output] = ['input_layernorm', 'post_attention_layernorm'];
  const inMlp = ofOutputs ? 'pre_feedforward_layernorm' : output;
  return {
    ofAttention: { input: ofInputs ? input : undefined, output: ofOutputs ? output : undefined },
    ofMlp: {
      input: ofInputs ? inMlp : undefined,
      output: ofOutputs ? 'post_feedforward_layernorm' : undefined,
    },
  };
}

function normOf(model: ProgramBuilder, { norms, normEpsilon }: LlamaConfig) {
  const gainOffset = norms.isGainOffset && ({ gainOffset: 1 } as const);
  return (x: Value, name: string, size = x.width): Value =>
    model.norm(x, name, { method: 'rms', epsilon: normEpsilon, ...gainOffset }, size);
}

function attention(
  model: ProgramBuilder,
  x: Value,
  name: string,
  config: LlamaConfig,
  { rope, window }: LayerConfig,
): Value {
  const { norms, width, biases, attentionScale: scale } = config;
  const qkv =
    norms.ofQueriesAndKeys === 'none' ? joinedQkv(model, x, name, config) : normedQkv(model, x, name, config);
  const rotated = rope ? model.rotary(qkv, rope, config.headSize) : qkv;
  const attended = model.attend(rotated, name, config, { scale, isCausal: true, window });
  return model.linear(attended, `${name}.o_proj`, width, { hasBias: biases.output });
}

function joinedQkv(model: ProgramBuilder, x: Value, name: string, config: LlamaConfig): Qkv {
  const { biases, modules } = config;
  const parts = ['q', 'k', 'v'].map((part) => `${name}.${part}_proj`);
  const options = { hasBias: biases.qkv, isSensitive, ...(!modules.hasJoinedQkv && { parts }) } as const;
  return model.qkv(x, `${name}.qkv_proj`, config, options);
}

/** A matrix for each, because norms stand between. */
function normedQkv(model: ProgramBuilder, x: Value, name: string, config: LlamaConfig): Qkv {
  const { numHeads, numKvHeads, headSize, biases, norms } = config;
  const norm = normOf(model, config);
  const size = norms.ofQueriesAndKeys === 'heads' ? headSize : undefined;
  const options = { hasBias: biases.qkv, isSensitive } as const;
  const query = model.linear(x, `${name}.q_proj`, numHeads * headSize, options);
  const key = model.linear(x, `${name}.k_proj`, numKvHeads * headSize, options);
  const value = model.linear(x, `${name}.v_proj`, numKvHeads * headSize, options);
  return [norm(query, `${name}.q_norm`, size), norm(key, `${name}.k_norm`, size), value];
}

function mlp(model: ProgramBuilder, x: Value, layer: string, config: LlamaConfig): Value {
  const { width, activation, biases, modules } = config;
  const name = `${layer}.${modules.mlp}`;
  const [gate, up] = gateAndUp(model, x, name, config);
  const gated = model.multiply(model.activation(gate, activation), up);
  return model.linear(gated, `${name}.${modules.down}`, width, { hasBias: biases.mlp, isSensitive });
}

function gateAndUp(
  model: ProgramBuilder,
  x: Value,
  name: string,
  { innerSize: size, biases, modules: { gateAndUp: joined } }: LlamaConfig,
): readonly [Value, Value] {
  const [gate, up] = [`${name}.gate_proj`, `${name}.up_proj`];
  const options = { hasBias: biases.mlp };
  if (joined === undefined) return [model.linear(x, gate, size, options), model.linear(x, up, size, options)];
  const parts = [
    { name: gate, size },
    { name: up, size },
  ] as const;
  return model.split(model.linear(x, `${name}.${joined}`, 2 * size, options), parts);
}
