import { readQwen35Config, type Qwen35Config } from '../../../src/worker/models/qwen35/config.ts';
import { generateCheckpoint, type GeneratedCheckpoint } from './generated-checkpoint.ts';
import { bell, matrix, SCALES, type GeneratedTensor } from './generated-tensor.ts';

interface Qwen35Spec {
  /** `config.json`: of the text model, or of one that reads pictures too. */
  readonly config: { readonly model_type: string; readonly [field: string]: unknown };
  readonly eosTokenIds: readonly number[];
  readonly seed: number;
}

export function qwen35Checkpoint({ config, eosTokenIds, seed }: Qwen35Spec): GeneratedCheckpoint {
  const read = readQwen35Config(config, undefined);
  const isWhole = config.model_type === 'qwen3_5';
  const prefix = isWhole ? 'model.language_model.' : 'model.';
  return generateCheckpoint({
    config: { ...config, vocab_size: read.vocabSize },
    generationConfig: { do_sample: true, eos_token_id: eosTokenIds },
    tokenizerConfig: { tokenizer_class: 'Qwen2Tokenizer', model_max_length: read.contextLength },
    tensors: [...textTensors(read, prefix), ...(isWhole ? unreadTensors(read) : [])].map((tensor) => ({
      ...tensor,
      seed,
    })),
    numShards: 2,
  });
}

/** Of the vision tower, and of the layers that guess several tokens: there are more, and nothing reads them. */
function unreadTensors({ width }: Qwen35Config): readonly GeneratedTensor[] {
  return [matrix('model.visual.blocks.0.attn.proj', 32, 32, 1), matrix('mtp.fc', width, 2 * width, 1)];
}

function textTensors(config: Qwen35Config, prefix: string): readonly GeneratedTensor[] {
  const { vocabSize, width, innerSize, layerTypes, isHeadSeparate } = config;
  // Elements of an embedding have this scale.
  const stream = SCALES.logits / Math.sqrt(width);
  const layers = layerTypes.flatMap((type, index) => {
    const layer = `${prefix}layers.${index}`;
    return [
      norm(`${layer}.input_layernorm`, width),
      ...(type === 'full_attention'
        ? attentionTensors(config, `${layer}.self_attn`, stream)
        : linearTensors(config, `${layer}.linear_attn`, stream)),
      matrix(`${layer}.mlp.down_proj`, width, innerSize, SCALES.mlp * stream),
      matrix(`${layer}.mlp.gate_proj`, innerSize, width, 1),
      matrix(`${layer}.mlp.up_proj`, innerSize, width, 1),
      norm(`${layer}.post_attention_layernorm`, width),
    ];
  });
  return [
    matrix(`${prefix}embed_tokens`, vocabSize, width, SCALES.logits),
    ...layers,
    // Gains of both signs: with a tied head, gains around 1 would make the last token its own likeliest successor.
    norm(`${prefix}norm`, width, 0, 1),
    ...(isHeadSeparate ? [matrix('lm_head', vocabSize, width, SCALES.logits)] : []),
  ];
}

function attentionTensors(config: Qwen35Config, name: string, stream: number): readonly GeneratedTensor[] {
  const { width, numHeads, numKvHeads, headSize } = config;
  return [
    norm(`${name}.k_norm`, headSize, SCALES.queriesAndKeys),
    matrix(`${name}.k_proj`, numKvHeads * headSize, width, 1),
    matrix(`${name}.o_proj`, width, numHeads * headSize, 2 * SCALES.attention * stream),
    norm(`${name}.q_norm`, headSize, SCALES.queriesAndKeys),
    matrix(`${name}.q_proj`, 2 * numHeads * headSize, width, 1),
    matrix(`${name}.v_proj`, numKvHeads * headSize, width, 1),
  ];
}

/** A head remembers about 20 tokens, and some many more. */
function linearTensors(config: Qwen35Config, name: string, stream: number): readonly GeneratedTensor[] {
  const { width, convLength, deltaHeads } = config;
  const { numKeyHeads, numValueHeads, keySize, valueSize } = deltaHeads;
  const [keys, values] = [numKeyHeads * keySize, numValueHeads * valueSize];
  return [
    bell('F32', `${name}.A_log`, [numValueHeads], 1, -1),
    bell('BF16', `${name}.conv1d.weight`, [2 * keys + values, 1, convLength], 1 / Math.sqrt(convLength)),
    bell('BF16', `${name}.dt_bias`, [numValueHeads], 1, -2),
    matrix(`${name}.in_proj_a`, numValueHeads, width, 1 / 2),
    matrix(`${name}.in_proj_b`, numValueHeads, width, 1),
    matrix(`${name}.in_proj_qkv`, 2 * keys + values, width, 1),
    matrix(`${name}.in_proj_z`, values, width, 1),
    bell('F32', `${name}.norm.weight`, [valueSize], 1 / 8, 1),
    matrix(`${name}.out_proj`, width, values, 2 * SCALES.attention * stream),
  ];
}

/** The model adds one to the weights. */
function norm(name: string, size: number, gain = 1, deviation = 1 / 8): GeneratedTensor {
  return bell('BF16', `${name}.weight`, [size], deviation, gain - 1);
}
