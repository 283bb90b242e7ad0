import { isRecord } from '../../../src/platform/is-record.ts';
import type { Fields } from '../../../src/worker/models/config-fields.ts';
import { readRope } from '../../../src/worker/models/llama/rope.ts';
import type { GgufTensor, MetadataValue } from '../../../src/worker/testing/gguf-builder.ts';

/** Keys of the rope and of windows below the architecture, as llama.cpp's converter writes them. */
export function ropeKeys(config: Fields): Readonly<Record<string, MetadataValue>> {
  const { model_type: modelType, layer_types: layerTypes } = config;
  const headSize = Number(
    config['head_dim'] ?? Number(config['hidden_size']) / Number(config['num_attention_heads']),
  );
  const scaling = scalingOf(config);
  const share = config['partial_rotary_factor'] ?? scaling['partial_rotary_factor'];
  const type = scaling['rope_type'];
  const keys: Fields = {
    'rope.freq_base': scaling['rope_theta'] ?? config['rope_theta'],
    'rope.freq_base_swa': scalingOf(config, 'sliding_attention')['rope_theta'],
    'rope.scaling.original_context_length': config['original_max_position_embeddings'],
    'rope.dimension_count': share === undefined ? undefined : Number(share) * headSize,
    ...(modelType === 'olmo3' && {
      'attention.sliding_window_pattern': Array.isArray(layerTypes)
        ? layerTypes.map((layer) => layer === 'sliding_attention')
        : 4,
    }),
    ...((type === 'linear' || type === 'yarn') && {
      'rope.scaling.type': type,
      'rope.scaling.factor': scaling['factor'],
    }),
    ...(type === 'yarn' && {
      'rope.scaling.original_context_length': scaling['original_max_position_embeddings'],
      'rope.scaling.yarn_attn_factor': scaling['attention_factor'],
      'rope.scaling.yarn_beta_fast': scaling['beta_fast'],
      'rope.scaling.yarn_beta_slow': scaling['beta_slow'],
      'rope.scaling.yarn_log_multiplier': scaling['mscale_all_dim'],
      'attention.temperature_scale': scaling['llama_4_scaling_beta'],
    }),
    ...(hasLengthFactors(scaling) && { 'rope.scaling.attn_factor': lengthFactor(config) }),
  };
  return Object.fromEntries(
    Object.entries(keys).filter((entry): entry is [string, MetadataValue] => entry[1] !== undefined),
  );
}

/** Factors of frequencies: those that llama3's scaling divides each by, or those of short and long sequences. */
export function ropeFactors(config: Fields): readonly GgufTensor[] {
  const scaling = scalingOf(config);
  if (hasLengthFactors(scaling))
    return ['short', 'long'].map((length) =>
      tensorOf(
        `rope_factors_${length}.weight`,
        Float32Array.from([scaling[`${length}_factor`]].flat(), Number),
      ),
    );
  if (scaling['rope_type'] !== 'llama3') return [];
  const defaults = {
    headSize: Number(config['head_dim']),
    theta: Number(config['rope_theta']),
    contextLength: Number(config['max_position_embeddings']),
  };
  const plain = readRope({}, defaults).frequencies;
  const scaled = readRope(scaling, defaults).frequencies;
  const factors = Float32Array.from(plain, (frequency, i) => frequency / (scaled[i] ?? 1));
  return [tensorOf('rope_freqs.weight', factors)];
}

function tensorOf(name: string, values: Float32Array<ArrayBuffer>): GgufTensor {
  return { name, shape: [values.length], values };
}

/** Layers that attend to all tokens may have another one than those with windows. */
function scalingOf(config: Fields, layerType = 'full_attention'): Fields {
  const given = config['rope_scaling'] ?? config['rope_parameters'];
  const ofType = isRecord(given) ? (given[layerType] ?? given) : {};
  return isRecord(ofType) ? ofType : {};
}

function hasLengthFactors(scaling: Fields): boolean {
  return scaling['short_factor'] !== undefined;
}

function lengthFactor(config: Fields): number {
  const original = Number(config['original_max_position_embeddings']);
  const factor = Number(config['max_position_embeddings']) / original;
  return Math.sqrt(1 + Math.log(factor) / Math.log(original));
}
