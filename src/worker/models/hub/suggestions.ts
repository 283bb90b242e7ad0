import { EMBEDDER, RERANKER } from '../../../protocol/embedding.ts';
import type { SuggestedModel } from '../../../protocol/models.ts';
import type { DeviceLimits } from '../checkpoint/device-fit.ts';
import { chooseDtype } from '../checkpoint/model-plan.ts';
import { readModel } from '../families/families.ts';
import { countParameters } from '../program/model-config.ts';

/** A model on the hub that is known to run. */
interface Suggestion extends Pick<SuggestedModel, 'id' | 'license' | 'isChat'> {
  /** Bytes of a weight in its file. */
  readonly bytesPerWeight: 2 | 4;
  /** Weights in the file that the forward pass does not read, and that come along. */
  readonly numUnread?: number;
  /** Fields of its `config.json`, as far as sizes depend on them. */
  readonly config: Readonly<Record<string, unknown>>;
}

/** A chat model whose file has weights of 2 bytes. */
const CHAT = { isChat: true, bytesPerWeight: 2 } as const;
/** A model without chats, whose file has weights of 4 bytes. */
const BASE = { isChat: false, bytesPerWeight: 4 } as const;
const LLAMA = { model_type: 'llama', tie_word_embeddings: true, rms_norm_eps: 1e-5, vocab_size: 49_152 };
const GPT2 = { model_type: 'gpt2', n_embd: 768, n_head: 12, n_positions: 1024, vocab_size: 50_257 };
const LFM2 = {
  model_type: 'lfm2',
  vocab_size: 65_536,
  num_hidden_layers: 16,
  num_key_value_heads: 8,
  full_attn_idxs: [2, 5, 8, 10, 12, 14],
  max_position_embeddings: 128_000,
};
/** Without Mamba's layers, and without experts. */
const GRANITE4 = {
  model_type: 'granitemoehybrid',
  tie_word_embeddings: true,
  vocab_size: 100_352,
  num_attention_heads: 16,
  num_key_value_heads: 4,
  num_local_experts: 0,
  position_embedding_type: 'rope',
  max_position_embeddings: 32_768,
};
const attentionLayers = (numLayers: number): readonly string[] =>
  Array.from({ length: numLayers }, () => 'attention');
const QWEN_VOCABULARY = 151_936;
/** MiniLM, with weights of 4 bytes. */
const MINILM = {
  model_type: 'bert',
  hidden_size: 384,
  intermediate_size: 1536,
  num_hidden_layers: 6,
  num_attention_heads: 12,
  max_position_embeddings: 512,
  type_vocab_size: 2,
  vocab_size: 30_522,
};
/** The dense layer behind the first token, which mean pooling does not read. */
const NUM_IN_POOLER = 384 * 384 + 384;

const SUGGESTIONS: readonly Suggestion[] = [
  {
    id: 'HuggingFaceTB/SmolLM2-135M-Instruct',
    license: 'Apache-2.0',
    ...CHAT,
    config: {
      ...LLAMA,
      hidden_size: 576,
      intermediate_size: 1536,
      num_hidden_layers: 30,
      num_attention_heads: 9,
      num_key_value_heads: 3,
      max_position_embeddings: 8192,
    },
  },
  {
    id: 'HuggingFaceTB/SmolLM2-360M-Instruct',
    license: 'Apache-2.0',
    ...CHAT,
    config: {
      ...LLAMA,
      hidden_size: 960,
      intermediate_size: 2560,
      num_hidden_layers: 32,
      num_attention_heads: 15,
      num_key_value_heads: 5,
      max_position_embeddings: 8192,
    },
  },
  {
    id: 'LiquidAI/LFM2.5-350M',
    license: 'LFM Open License v1.0',
    ...CHAT,
    config: {
      ...LFM2,
      hidden_size: 1024,
      intermediate_size: 6656,
      num_attention_heads: 16,
    },
  },
  {
    id: 'Qwen/Qwen2.5-0.5B-Instruct',
    license: 'Apache-2.0',
    ...CHAT,
    config: {
      model_type: 'qwen2',
      tie_word_embeddings: true,
      vocab_size: QWEN_VOCABULARY,
      hidden_size: 896,
      intermediate_size: 4864,
      num_hidden_layers: 24,
      num_attention_heads: 14,
      num_key_value_heads: 2,
      max_position_embeddings: 32_768,
    },
  },
  {
    id: 'Qwen/Qwen3-0.6B',
    license: 'Apache-2.0',
    ...CHAT,
    // The file has the head, although it is tied to the embedding.
    numUnread: QWEN_VOCABULARY * 1024,
    config: {
      model_type: 'qwen3',
      tie_word_embeddings: true,
      vocab_size: QWEN_VOCABULARY,
      hidden_size: 1024,
      intermediate_size: 3072,
      num_hidden_layers: 28,
      num_attention_heads: 16,
      num_key_value_heads: 8,
      head_dim: 128,
      max_position_embeddings: 40_960,
    },
  },
  {
    // A copy of meta-llama/Llama-3.2-1B-Instruct, because Meta's repository requires an access token.
    id: 'unsloth/Llama-3.2-1B-Instruct',
    license: 'Llama 3.2 Community License',
    ...CHAT,
    config: {
      ...LLAMA,
      vocab_size: 128_256,
      hidden_size: 2048,
      intermediate_size: 8192,
      num_hidden_layers: 16,
      num_attention_heads: 32,
      num_key_value_heads: 8,
      max_position_embeddings: 131_072,
    },
  },
  {
    id: 'LiquidAI/LFM2.5-1.2B-Instruct',
    license: 'LFM Open License v1.0',
    ...CHAT,
    config: {
      ...LFM2,
      hidden_size: 2048,
      intermediate_size: 12_288,
      num_attention_heads: 32,
    },
  },
  {
    id: 'ibm-granite/granite-4.0-350m',
    license: 'Apache-2.0',
    ...CHAT,
    config: {
      ...GRANITE4,
      hidden_size: 1024,
      shared_intermediate_size: 2048,
      num_hidden_layers: 28,
      layer_types: attentionLayers(28),
    },
  },
  {
    id: 'allenai/OLMo-2-0425-1B-Instruct',
    license: 'Apache-2.0',
    ...CHAT,
    config: {
      model_type: 'olmo2',
      tie_word_embeddings: false,
      vocab_size: 100_352,
      hidden_size: 2048,
      intermediate_size: 8192,
      num_hidden_layers: 16,
      num_attention_heads: 16,
      max_position_embeddings: 4096,
    },
  },
  {
    id: 'HuggingFaceTB/SmolLM3-3B',
    license: 'Apache-2.0',
    ...CHAT,
    config: {
      model_type: 'smollm3',
      vocab_size: 128_256,
      hidden_size: 2048,
      intermediate_size: 11_008,
      num_hidden_layers: 36,
      num_attention_heads: 16,
      max_position_embeddings: 65_536,
    },
  },
  {
    id: 'openai-community/gpt2',
    license: 'MIT',
    ...BASE,
    config: { ...GPT2, n_layer: 12 },
  },
  {
    id: 'distilbert/distilgpt2',
    license: 'Apache-2.0',
    ...BASE,
    config: { ...GPT2, n_layer: 6 },
  },
  {
    id: 'sentence-transformers/all-MiniLM-L6-v2',
    license: 'Apache-2.0',
    ...BASE,
    numUnread: NUM_IN_POOLER,
    config: MINILM,
  },
  {
    id: 'BAAI/bge-small-en-v1.5',
    license: 'MIT',
    ...BASE,
    numUnread: NUM_IN_POOLER,
    config: { ...MINILM, num_hidden_layers: 12 },
  },
  {
    id: 'cross-encoder/ms-marco-MiniLM-L6-v2',
    license: 'Apache-2.0',
    ...BASE,
    config: { ...MINILM, architectures: ['BertForSequenceClassification'], num_labels: 1 },
  },
];

/** Small models that are known to run, with what each takes on this device. */
export function suggestModels(device: DeviceLimits): readonly SuggestedModel[] {
  return SUGGESTIONS.map((suggestion) => describe(suggestion, device));
}

function describe(suggestion: Suggestion, device: DeviceLimits): SuggestedModel {
  const { id, license, isChat, bytesPerWeight, numUnread = 0, config } = suggestion;
  const model = readModel(config, undefined);
  const { layout, usualContext, deviceBytes, obstacle } = chooseDtype(model, 'auto', device).plan;
  const numParameters = countParameters(model.program.weights);
  return {
    id,
    license,
    isChat,
    ...(model.encoder && { deployment: model.encoder.task === 'embed' ? EMBEDDER : RERANKER }),
    numParameters,
    downloadBytes: bytesPerWeight * (numParameters + numUnread),
    dtype: layout.dtype,
    contextLength: usualContext,
    memoryBytes: deviceBytes,
    obstacle: obstacle ?? '',
  };
}
