import { decoderCheckpoint } from './decoder-checkpoint.ts';
import specs from './decoders.json' with { type: 'json' };
import type { GeneratedCheckpoint } from './generated-checkpoint.ts';
import { qwen35Checkpoint } from './qwen35-checkpoint.ts';
import qwen35Specs from './qwen35.json' with { type: 'json' };

/**
 * Checkpoints of today's families, by their ids. `config.json` has the fields of the named model, with smaller sizes and lengths:
 *
 * - llama: meta-llama/Llama-3.2-1B-Instruct, with the separate head of the larger ones. Its third end token is the seventh
 *   token of the likeliest text after `Th`, so that this text ends there;
 * - mistral: mistralai/Mistral-7B-v0.1;
 * - qwen2: Qwen/Qwen2.5-0.5B-Instruct;
 * - qwen3: Qwen/Qwen3-0.6B;
 * - smollm2: HuggingFaceTB/SmolLM2-135M-Instruct;
 * - gemma3: google/gemma-3-1b-it. Every third layer attends to all tokens instead of every sixth;
 * - smollm3: HuggingFaceTB/SmolLM3-3B; smollm3-windows: with windows in the layers that don't rotate;
 * - olmo2: allenai/OLMo-2-0425-1B-Instruct; olmo2-grouped: with fewer heads of keys and values;
 * - olmo3: allenai/Olmo-3-7B-Instruct; olmo3-nested: with the rope of each type of layer;
 * - granite: ibm-granite/granite-3.3-2b-instruct, with larger factors; granite-untied: with a head of its own, and other factors;
 * - granitehybrid: ibm-granite/granite-4.0-350m, with larger factors;
 * - phi3: microsoft/Phi-4-mini-instruct; phi3-windows: microsoft/Phi-3-mini-4k-instruct;
 * - ministral3: the text model of mistralai/Ministral-3-3B-Instruct-2512; ministral3-untied: with a head of its own;
 * - qwen35: Qwen/Qwen3.5-0.8B, with two tensors of those that are not read;
 * - qwen35-text: its text model, with twice as many heads of values as of keys, as the larger ones have;
 * - lfm2: LiquidAI/LFM2-1.2B; lfm2-biased has what no released model has: biases, a head of its own, a convolution of four tokens.
 */
export const DECODERS: ReadonlyMap<string, () => GeneratedCheckpoint> = new Map(
  [
    ...Object.entries(specs).map(([name, spec]) => [name, () => decoderCheckpoint(spec)] as const),
    ...Object.entries(qwen35Specs).map(([name, spec]) => [name, () => qwen35Checkpoint(spec)] as const),
  ].map(([name, generate]) => [`generated/${name}`, generate]),
);

/** Decoders without a GGUF file: llama.cpp's metadata has neither the windows of two nor which layers rotate, and heads of values that share keys have another order. */
export const WITHOUT_GGUF: readonly string[] = [
  'generated/mistral',
  'generated/smollm3-windows',
  'generated/qwen35-text',
];

/** Families' second shapes, which differ in sizes and options alone. */
export const SECOND_SHAPES: readonly string[] = [...DECODERS.keys()].filter((id) => id.includes('-'));
