import { layerCount, positiveInteger, positiveNumber, type Fields } from '../models/config-fields.ts';
import type { ModelFamily } from '../models/family.ts';
import type { Heads, ModelConfig, ModelTensor } from '../models/program/model-config.ts';
import { ProgramBuilder } from '../models/program/program-builder.ts';
import type { Program, Value } from '../models/program/program.ts';

interface HybridConfig extends ModelConfig, Heads {
  readonly width: number;
  readonly layerTypes: readonly unknown[];
  readonly convLength: number;
  readonly epsilon: number;
}

/** Test support: layers of attention, and of short convolutions, which keep a fixed size of a row. LFM2 in small. */
export const hybridFamily: ModelFamily = {
  modelTypes: ['tiny_hybrid'],
  readModel(fields) {
    const config = readHybridConfig(fields);
    return { config, program: hybridProgram(config), tensorPrefix: '', skipTensor: () => undefined };
  },
};

function readHybridConfig(fields: Fields): HybridConfig {
  const width = positiveInteger(fields, 'hidden_size');
  const numHeads = positiveInteger(fields, 'num_attention_heads');
  const types = fields['layer_types'];
  return {
    vocabSize: positiveInteger(fields, 'vocab_size'),
    contextLength: positiveInteger(fields, 'max_position_embeddings'),
    numLayers: layerCount(fields, 'num_hidden_layers'),
    numHeads,
    numKvHeads: positiveInteger(fields, 'num_key_value_heads'),
    headSize: width / numHeads,
    eosTokenIds: [],
    width,
    layerTypes: Array.isArray(types) ? types : [],
    convLength: positiveInteger(fields, 'conv_L_cache'),
    epsilon: positiveNumber(fields, 'norm_eps', 1e-5),
  };
}

function hybridProgram({ layerTypes, ...config }: HybridConfig): Program {
  const { vocabSize, width, epsilon, convLength } = config;
  const words: ModelTensor = { name: 'words.weight', shape: [vocabSize, width], role: 'embedding' };
  const model = new ProgramBuilder();
  const norm = (x: Value, name: string): Value => model.norm(x, name, { method: 'rms', epsilon });
  let x = model.embed('token', words);
  for (const [layer, type] of layerTypes.entries()) {
    const name = `layers.${layer}`;
    const normed = norm(x, `${name}.norm`);
    const isConv = type === 'conv';
    x = model.add(
      x,
      isConv ? gatedConv(model, normed, name, convLength) : attention(model, normed, name, config),
    );
  }
  return model.end(model.head(norm(x, 'norm'), words));
}

/** What the convolution reads and what it gives are both multiplied by products of the input. */
export function gatedConv(model: ProgramBuilder, x: Value, name: string, length: number): Value {
  const before = model.linear(x, `${name}.before`, x.width);
  const after = model.linear(x, `${name}.after`, x.width);
  const input = model.linear(x, `${name}.input`, x.width);
  const convolved = model.shortConv(model.multiply(before, input), `${name}.conv`, length);
  return model.linear(model.multiply(after, convolved), `${name}.output`, x.width);
}

function attention(model: ProgramBuilder, x: Value, name: string, config: Heads): Value {
  const { headSize } = config;
  const frequencies = Array.from({ length: headSize / 2 }, (_, i) => 100 ** ((-2 * i) / headSize));
  const qkv = model.rotary(model.qkv(x, `${name}.qkv_proj`, config), { frequencies, attentionFactor: 1 });
  const attended = model.attend(qkv, name, config, { scale: 1 / Math.sqrt(headSize), isCausal: true });
  return model.linear(attended, `${name}.output`, x.width);
}
