import type { GenerationChunk } from '../../src/client/generation-response.ts';
import type { GenerationOptions, GenerationResult } from '../../src/protocol/generation.ts';
import type { Tab } from './tab.ts';

interface Streamed {
  readonly chunks: readonly GenerationChunk[];
  readonly result: GenerationResult;
}

/** One request, read as it streams. */
export function readStream(
  { page }: Pick<Tab, 'page'>,
  prompt: string,
  options: GenerationOptions,
): Promise<Streamed> {
  return page.evaluate(
    async ([text, given]) => {
      const response = window.tabserve.getHandle('text-generator').remote(text, given);
      const chunks: GenerationChunk[] = [];
      for await (const chunk of response) chunks.push(chunk);
      return { chunks, result: await response.result() };
    },
    [prompt, options] as const,
  );
}
