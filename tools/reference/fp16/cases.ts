import { readFileSync } from 'node:fs';

import { decoderCheckpoint, type DecoderConfig } from '../../hub-server/checkpoints/decoder-checkpoint.ts';
import type { GeneratedCheckpoint } from '../../hub-server/checkpoints/generated-checkpoint.ts';
import { fileOf } from '../../hub-server/checkpoints/generated-file.ts';
import { gpt2Checkpoint } from '../../hub-server/checkpoints/gpt2-checkpoint.ts';
import { qwen35Checkpoint } from '../../hub-server/checkpoints/qwen35-checkpoint.ts';
import qwen35Specs from '../../hub-server/checkpoints/qwen35.json' with { type: 'json' };
import configs from './configs.json' with { type: 'json' };
import type { Dtype } from '../../../src/protocol/models.ts';

export interface Case {
  readonly family: string;
  readonly headSize: number;
  readonly dtypes: readonly Dtype[];
  generate(): GeneratedCheckpoint;
}

const HEAD_SIZES = [64, 80, 96, 128, 256];
const BOTH: readonly Dtype[] = ['fp32', 'fp16'];

/** Relatives of Llama: some layers don't rotate, norms are of outputs, stream and logits have factors, heads rotate in part, short convolutions. */
const RELATIVES: readonly (readonly [family: string, config: DecoderConfig])[] = [
  ['SmolLM3', configs.smollm3],
  ['OLMo 3', configs.olmo3],
  ['Granite', configs.granite],
  ['Phi 3', configs.phi3],
  ['LFM2', configs.lfm2],
];

/** All tested models, the largest first. Gemma computes only in fp32, because its activations exceed fp16. */
export const CASES: readonly Case[] = [
  { family: 'Storyteller', headSize: 32, dtypes: BOTH, generate: storyteller },
  {
    family: 'Llama',
    headSize: 32,
    dtypes: ['q8', 'q4'],
    generate: () => decoder(configs.llama, 32, true),
  },
  { family: 'Qwen 3.5', headSize: 64, dtypes: BOTH, generate: qwen35 },
  ...RELATIVES.map(([family, config]): Case => ({
    family,
    headSize: 64,
    dtypes: BOTH,
    generate: () => decoder(config, 64),
  })),
  ...HEAD_SIZES.toReversed().flatMap((headSize): readonly Case[] => [
    { family: 'GPT-2', headSize, dtypes: BOTH, generate: () => gpt2(headSize) },
    { family: 'Llama', headSize, dtypes: BOTH, generate: () => decoder(configs.llama, headSize) },
    { family: 'Qwen 3', headSize, dtypes: BOTH, generate: () => decoder(configs.qwen3, headSize) },
    { family: 'Gemma 3', headSize, dtypes: ['fp32'], generate: () => decoder(configs.gemma3, headSize) },
  ]),
];

/** The model that the page starts with: GPT-2, with weights that were trained. */
function storyteller(): GeneratedCheckpoint {
  const names = ['config.json', 'tokenizer.json', 'model.safetensors'];
  const folder = new URL('../../../public/models/storyteller/', import.meta.url);
  return new Map(names.map((name) => [name, fileOf(readFileSync(new URL(name, folder)))]));
}

/** Linear attention and short convolutions. */
function qwen35(): GeneratedCheckpoint {
  const { qwen35: spec } = qwen35Specs;
  const text = { ...spec.config.text_config, max_position_embeddings: configs.llama.max_position_embeddings };
  return qwen35Checkpoint({ ...spec, config: { ...spec.config, text_config: text } });
}

function gpt2(headSize: number): GeneratedCheckpoint {
  const width = configs.gpt2.n_head * headSize;
  return gpt2Checkpoint({
    config: { ...configs.gpt2, n_embd: width },
    dtype: 'F16',
    // A product with such a matrix is about as large as its input.
    amplitude: 2 ** Math.round(Math.log2(Math.sqrt(3 / width))),
  });
}

function decoder(config: DecoderConfig, headSize: number, isQuantized = false): GeneratedCheckpoint {
  return decoderCheckpoint({
    config: { ...config, head_dim: headSize, query_pre_attn_scalar: headSize },
    generationConfig: {},
    tokenizerClass: 'PreTrainedTokenizerFast',
    seed: 2,
    isQuantized,
  });
}
