import { ModelFileCorruptError, UnsupportedModelError } from '../../../protocol/errors/model.ts';
import type { Fields } from '../config-fields.ts';
import { ARCHITECTURES, type FieldNames, type Lookup } from './architectures.ts';
import { endTokenIds } from './end-tokens.ts';
import { oneForAll, refuseUncomputedKeys } from './gguf-keys.ts';
import type { GgufHeader } from './read-gguf.ts';

/** Keys that llama.cpp has no default for. */
const REQUIRED = [
  'context_length',
  'embedding_length',
  'block_count',
  'attention.head_count',
  'attention.layer_norm_epsilon',
  'attention.layer_norm_rms_epsilon',
  'shortconv.l_cache',
];

/**
 * The `config.json` and `generation_config.json` of a checkpoint with this metadata.
 *
 * @throws UnsupportedModelError for another architecture, or a key that changes what the model computes and isn't computed;
 *   ModelFileCorruptError where a key or the vocabulary's embedding is missing.
 */
export function configOf(
  { metadata, tensors }: GgufHeader,
  fileName: string,
): { readonly config: Fields; readonly generationConfig: Fields } {
  const name = metadata['general.architecture'];
  const architecture = ARCHITECTURES.get(name);
  if (!architecture || typeof name !== 'string') {
    const known = [...ARCHITECTURES.keys()].join(', ');
    throw UnsupportedModelError.of(
      `${fileName} has the architecture ${JSON.stringify(name)}, which is not one of ${known}`,
    );
  }
  const { modelType, fields: names, otherKeys = [], required = [], derive } = architecture;
  const of: Lookup = (key) => metadata[`${name}.${key}`];
  for (const key of [...REQUIRED.filter((each) => each in names), ...required]) {
    if (of(key) === undefined) throw ModelFileCorruptError.of(fileName, `${name}.${key} is missing`);
  }
  const given = Object.entries(names).map(([key, field]) => [field, oneForAll(of(key))] as const);
  const fields = Object.fromEntries(given.filter(([, value]) => value !== undefined));
  const [vocabSize] = tensors.get('token_embd.weight')?.shape ?? [];
  if (vocabSize === undefined)
    throw ModelFileCorruptError.of(fileName, 'tensor token_embd.weight is missing');
  const config = {
    model_type: modelType,
    ...fields,
    ...derive(of, fields),
    vocab_size: vocabSize,
    tie_word_embeddings: !tensors.has('output.weight'),
    attention_bias: tensors.has('blk.0.attn_q.bias'),
    mlp_bias: tensors.has('blk.0.ffn_up.bias'),
    conv_bias: [...tensors.keys()].some((tensor) => tensor.endsWith('shortconv.conv.bias')),
  };
  refuseUncomputedKeys(metadata, name, new Set([...Object.keys(names), ...otherKeys]), config, fileName);
  return { config, generationConfig: { ...samplingOf(metadata), eos_token_id: endTokenIds(metadata) } };
}

/** Recommended by the file, by fields of `generation_config.json`. */
const SAMPLING: FieldNames = { temp: 'temperature', top_k: 'top_k', top_p: 'top_p', min_p: 'min_p' };

function samplingOf(metadata: GgufHeader['metadata']): Fields {
  const given = Object.entries(SAMPLING)
    .map(([key, field]) => [field, metadata[`general.sampling.${key}`]] as const)
    .filter(([, value]) => value !== undefined);
  const fields = Object.fromEntries(given);
  return given.length === 0 ? {} : { ...fields, do_sample: fields['temperature'] !== 0 };
}
