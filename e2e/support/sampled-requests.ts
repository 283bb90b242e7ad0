import type { GenerationOptions } from '../../src/protocol/generation.ts';
import { reference } from './reference.ts';
import type { TextRequest } from './tab.ts';

/** Each with its own seed; other rounds have others. */
export function sampledRequests(
  count: number,
  round: number,
  maxNewTokens = 12,
): (TextRequest & { readonly prompt: string; readonly options: GenerationOptions })[] {
  return reference.prompts.slice(0, count).map(({ prompt }, index) => ({
    prompt,
    options: { seed: 100 * round + index, temperature: 0.9, topK: 40, maxNewTokens },
  }));
}
