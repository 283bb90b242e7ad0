import { textOf } from '../../../batching/base/errors.ts';
import { UnsupportedModelError } from '../../../protocol/errors/model.ts';
import { refuseNonCausal, type Fields } from '../config-fields.ts';
import type { Variant } from './variants.ts';

/** Fields that change what a model computes, in a way that the graph does not. */
const UNCOMPUTED: readonly (readonly [field: string, meaning: string])[] = [
  ['quantization_config', 'its weights are quantized already'],
  ['attn_logit_softcapping', 'attention scores are capped'],
  ['final_logit_softcapping', 'logits are capped'],
  ['use_bidirectional_attention', 'tokens attend to later ones'],
  ['add_cross_attention', 'the model attends to an encoder'],
  ['is_encoder_decoder', 'the model has an encoder'],
  ['num_local_experts', 'the MLP is a mixture of experts'],
  ['num_experts', 'the MLP is a mixture of experts'],
  ['n_routed_experts', 'the MLP is a mixture of experts'],
  ['no_rope_layers', 'some layers are not rotated'],
];

/**
 * Asking for something means a value other than `null`, `false` or 0.
 *
 * @throws UnsupportedModelError where the configuration asks for something that the graph does not compute.
 */
export function refuseUncomputed(
  config: Fields,
  { architecture, rotation, foreignFields }: Pick<Variant, 'architecture' | 'rotation' | 'foreignFields'>,
): void {
  refuseArchitecture(config['architectures'], architecture);
  refuseNonCausal(config);
  for (const [field, meaning] of UNCOMPUTED) {
    if (field !== rotation && isAskedFor(config[field])) {
      throw UnsupportedModelError.of(`${meaning} (${field} in config.json), which Tabserve does not compute`);
    }
  }
  for (const field of foreignFields) {
    if (isAskedFor(config[field])) {
      throw UnsupportedModelError.of(`${architecture} has no ${field}, but config.json asks for it`);
    }
  }
}

export function isAskedFor(value: unknown): boolean {
  return value != null && value !== false && value !== 0;
}

/** Such as a classifier, which has another head. The first Llama checkpoints spell it `LLaMAForCausalLM`. */
export function refuseArchitecture(given: unknown, architecture: string): void {
  const names: readonly unknown[] = Array.isArray(given) ? given : [];
  const isKnown = (name: unknown): boolean => textOf(name).toLowerCase() === architecture.toLowerCase();
  if (names.length === 0 || names.some(isKnown)) return;
  throw UnsupportedModelError.of(
    `config.json names the architecture ${names.map(textOf).join(', ')}, not ${architecture}`,
  );
}
