import { shown } from '../../../batching/base/errors.ts';
import { isRecord } from '../../../platform/is-record.ts';
import { UnsupportedModelError } from '../../../protocol/errors/model.ts';
import { MOST_LAYERS, type Fields } from '../config-fields.ts';
import type { GgufHeader } from './read-gguf.ts';

/** Whether a key has no effect on what the model computes. */
type IsNeutral = (value: unknown, config: Fields) => boolean;

const anything: IsNeutral = () => true;

/** 0, false and nothing turn a feature off. */
const isOff: IsNeutral = (value) =>
  value === 0 ||
  value === false ||
  value === '' ||
  (Array.isArray(value) && value.every((item) => isOff(item, {})));

const isOneOf =
  (...values: readonly unknown[]): IsNeutral =>
  (value) =>
    values.includes(value);

const isAsField =
  (...fields: readonly string[]): IsNeutral =>
  (value, config) =>
    fields.some((field) => value === config[field]);

const isScale = isOneOf(0, 1);

/** A factor that llama.cpp computes itself, or that changes nothing. */
const isYarnFactor: IsNeutral = (value, { rope_scaling: scaling }) => {
  const factor = isRecord(scaling) ? Number(scaling['factor']) : 1;
  return [1, 1 + 0.1 * Math.log(factor)].some((neutral) => Math.abs(Number(value) - neutral) < 1e-6);
};

/** A window of the whole context hides no token. */
const hidesNothing: IsNeutral = (value, config) =>
  isOff(value, config) || Number(value) >= Number(config['max_position_embeddings']);

/**
 * Keys below the architecture that no family reads, with their neutral values, where those are not `isOff`'s alone. The keys are
 * those of `src/llama-arch.cpp` in ggml-org/llama.cpp, and what they mean there is in `src/llama-model.cpp`.
 */
const NEUTRAL: ReadonlyMap<string, IsNeutral> = new Map<string, IsNeutral>([
  // The tokens are counted.
  ['vocab_size', anything],
  ['tensor_data_layout', isOneOf('reference', 'Meta AI original pth')],
  ['embedding_length_out', isAsField('hidden_size', 'n_embd')],
  // No architecture here has experts: see `expert_count`.
  ['expert_used_count', anything],
  ['expert_feed_forward_length', anything],
  ['expert_weights_scale', anything],
  ['expert_weights_norm', anything],
  ['expert_gating_func', anything],
  // -1 is llama.cpp's own default.
  ['pooling_type', isOneOf(-1, 0)],
  ['logit_scale', isScale],
  ['residual_scale', isScale],
  ['embedding_scale', isScale],
  ['interleave_moe_layer_step', isScale],
  ['full_attention_interval', isScale],
  ['attention.output_scale', isScale],
  ['attention.head_count_kv', isAsField('n_head')],
  ['attention.causal', isOneOf(true)],
  ['attention.key_length', isAsField('head_dim')],
  ['attention.value_length', isAsField('head_dim')],
  ['attention.key_length_swa', isAsField('head_dim')],
  ['attention.value_length_swa', isAsField('head_dim')],
  ['attention.sliding_window', hidesNothing],
  ['attention.sliding_window_pattern', anything],
  // Each family reads that of its own norm.
  ['attention.layer_norm_epsilon', anything],
  ['attention.layer_norm_rms_epsilon', anything],
  ['rope.dimension_count', isAsField('head_dim')],
  ['rope.dimension_count_swa', isAsField('head_dim')],
  ['rope.freq_base_swa', isAsField('rope_theta')],
  ['rope.scaling.type', isOneOf('none', 'linear', 'yarn')],
  // Says that the context was extended, not how.
  ['rope.scaling.finetuned', anything],
  ['rope.scaling.original_context_length', anything],
  ['rope.scaling.attn_factor', isOneOf(1)],
  ['rope.scaling.yarn_attn_factor', isYarnFactor],
  // llama.cpp computes YaRN with these, and nothing else reads them.
  ['rope.scaling.yarn_ext_factor', isOneOf(-1, 1)],
  ['rope.scaling.yarn_beta_fast', isOneOf(32)],
  ['rope.scaling.yarn_beta_slow', isOneOf(1)],
]);

/**
 * Checks each key of the architecture that `read` does not name.
 *
 * @param config The fields that were read, with `head_dim`.
 * @throws UnsupportedModelError where a key changes what the model computes, or might: one that llama.cpp does not know either.
 */
export function refuseUncomputedKeys(
  metadata: GgufHeader['metadata'],
  architecture: string,
  read: ReadonlySet<string>,
  config: Fields,
  fileName: string,
): void {
  const prefix = `${architecture}.`;
  for (const [key, value] of Object.entries(metadata)) {
    const name = key.slice(prefix.length);
    if (!key.startsWith(prefix) || read.has(name)) continue;
    const isNeutral = NEUTRAL.get(name) ?? isOff;
    if (isNeutral(value, config)) continue;
    throw UnsupportedModelError.of(
      `${fileName} has ${shown(key)} = ${shown(JSON.stringify(value))}, which Tabserve does not compute`,
    );
  }
}

/** llama.cpp takes a list with an entry for each layer in place of a number. Families have one number for all layers. */
export function oneForAll(value: unknown): unknown {
  if (!Array.isArray(value) || value.length === 0 || value.length > MOST_LAYERS) return value;
  const [first]: readonly unknown[] = value;
  return value.every((item) => item === first) ? first : value;
}
