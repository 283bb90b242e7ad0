import { readFileSync } from 'node:fs';

export interface DecoderPrompt {
  readonly prompt: string;
  readonly promptTokenIds: readonly number[];
  /** End tokens do not end them. */
  readonly greedyTokenIds: readonly number[];
  /** Of the last token, [vocab]; of some prompts alone. */
  readonly logits?: readonly number[];
  /** Of each token but the first. */
  readonly promptLogprobs?: readonly number[];
}

export interface DecoderReference {
  /** From the shortest to the longest. Each begins with those before it. */
  readonly prompts: readonly DecoderPrompt[];
  /** Texts that the model has at temperature 1, as token ids. */
  readonly samples: readonly (readonly number[])[];
  readonly samplesPerplexity: number;
}

/** What huggingface/transformers computes in float64 for each generated decoder: tools/reference/decoder. */
export const decoderReferences: Readonly<Record<string, DecoderReference>> = JSON.parse(
  readFileSync(new URL('../../tools/reference/fixtures/decoders-reference.json', import.meta.url), 'utf8'),
);
