import { readFileSync } from 'node:fs';

export interface DecoderPrompt {
  readonly prompt: string;
  readonly promptTokenIds: readonly number[];
  /** End tokens do not end them. */
  readonly greedyTokenIds: readonly number[];
  /** [vocab] for the last token. Only some prompts have it. */
  readonly logits?: readonly number[];
  /** One for each token but the first. */
  readonly promptLogprobs?: readonly number[];
}

export interface DecoderReference {
  /** From the shortest to the longest. Each begins with those before it. */
  readonly prompts: readonly DecoderPrompt[];
  /** Texts that the model has at temperature 1, as token ids. */
  readonly samples: readonly (readonly number[])[];
  readonly samplesPerplexity: number;
}

/** Values that huggingface/transformers computes in float64 for each generated decoder: tools/reference/decoder. */
export const decoderReferences: Readonly<Record<string, DecoderReference>> = JSON.parse(
  readFileSync(new URL('../../tools/reference/fixtures/decoders-reference.json', import.meta.url), 'utf8'),
);
