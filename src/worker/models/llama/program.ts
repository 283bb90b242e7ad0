import type { ModelTensor } from '../model-config.ts';
import { ProgramBuilder } from '../program/program-builder.ts';
import type { Program, Qkv, Value } from '../program/program.ts';
import type { LlamaConfig } from './config.ts';
import type { LayerConfig } from './layers.ts';

const isSensitive = true;

export function llamaProgram(config: LlamaConfig): Program {
  const { vocabSize, width, layers, norms, embeddingScale, isHeadSeparate, isEncoder } = config;
  const model = new ProgramBuilder();
  const norm = normOf(model, config);
  const words: ModelTensor = {
    name: 'embed_tokens.weight',
    shape: [vocabSize, width],
    role: 'embedding',
    isSensitive,
  };
  let x = model.embed('token', words);
  if (embeddingScale !== 1) x = model.scale(x, embeddingScale);
  for (const [i, layer] of layers.entries()) {
    const name = `layers.${i}`;
    const normed = norm(x, `${name}.input_layernorm`);
    const attended = attention(model, normed, `${name}.self_attn`, config, layer);
    if (norms.ofBranches) {
      x = model.add(x, norm(attended, `${name}.post_attention_layernorm`));
      const output = mlp(model, norm(x, `${name}.pre_feedforward_layernorm`), `${name}.mlp`, config);
      x = model.add(x, norm(output, `${name}.post_feedforward_layernorm`));
    } else {
      x = model.add(x, attended);
      x = model.add(x, mlp(model, norm(x, `${name}.post_attention_layernorm`), `${name}.mlp`, config));
    }
  }
  x = norm(x, 'norm');
  if (isEncoder) return model.end(model.pool(x));
  // Checkpoints have it without the prefix.
  const head = isHeadSeparate ? ({ ...words, name: 'lm_head.weight', role: 'linear' } as const) : words;
  return model.end(model.head(x, head));
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
  const qkv = norms.ofHeads ? normedQkv(model, x, name, config) : joinedQkv(model, x, name, config);
  const attended = model.attend(model.rotary(qkv, rope), name, config, { scale, isCausal: true, window });
  return model.linear(attended, `${name}.o_proj`, width, { hasBias: biases.output });
}

function joinedQkv(model: ProgramBuilder, x: Value, name: string, config: LlamaConfig): Qkv {
  const parts = ['q', 'k', 'v'].map((part) => `${name}.${part}_proj`);
  return model.qkv(x, `${name}.qkv_proj`, config, { hasBias: config.biases.qkv, isSensitive, parts });
}

/** A matrix for each, because norms stand between. */
function normedQkv(model: ProgramBuilder, x: Value, name: string, config: LlamaConfig): Qkv {
  const { numHeads, numKvHeads, headSize, biases } = config;
  const norm = normOf(model, config);
  const options = { hasBias: biases.qkv, isSensitive } as const;
  const query = model.linear(x, `${name}.q_proj`, numHeads * headSize, options);
  const key = model.linear(x, `${name}.k_proj`, numKvHeads * headSize, options);
  const value = model.linear(x, `${name}.v_proj`, numKvHeads * headSize, options);
  return [norm(query, `${name}.q_norm`, headSize), norm(key, `${name}.k_norm`, headSize), value];
}

function mlp(model: ProgramBuilder, x: Value, name: string, config: LlamaConfig): Value {
  const { width, innerSize, activation, biases } = config;
  const hasBias = biases.mlp;
  const gate = model.linear(x, `${name}.gate_proj`, innerSize, { hasBias });
  const up = model.linear(x, `${name}.up_proj`, innerSize, { hasBias });
  const gated = model.multiply(model.activation(gate, activation), up);
  return model.linear(gated, `${name}.down_proj`, width, { hasBias, isSensitive });
}
