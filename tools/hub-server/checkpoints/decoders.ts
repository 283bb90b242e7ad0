import { decoderCheckpoint } from './decoder-checkpoint.ts';
import specs from './decoders.json' with { type: 'json' };
import type { GeneratedCheckpoint } from './generated-checkpoint.ts';

/**
 * Checkpoints of today's families, by their ids. `config.json` has the fields of the named model, with smaller sizes and lengths:
 *
 * - llama: meta-llama/Llama-3.2-1B-Instruct, with the separate head of the larger ones. Its third end token is the seventh
 *   token of the likeliest text after `Th`, so that this text ends there;
 * - mistral: mistralai/Mistral-7B-v0.1;
 * - qwen2: Qwen/Qwen2.5-0.5B-Instruct;
 * - qwen3: Qwen/Qwen3-0.6B;
 * - smollm2: HuggingFaceTB/SmolLM2-135M-Instruct;
 * - gemma3: google/gemma-3-1b-it. Every third layer attends to all tokens instead of every sixth.
 */
export const DECODERS: ReadonlyMap<string, () => GeneratedCheckpoint> = new Map(
  Object.entries(specs).map(([name, spec]) => [`generated/${name}`, () => decoderCheckpoint(spec)]),
);
