import type { EmbedderHandle } from '../../client/index.ts';
import type { Vectors } from './vectors.ts';

/** Texts of one request. Its vectors come together, so that fewer show progress more often. */
const TEXTS_PER_REQUEST = 32;

/** Requests at a time: enough texts wait for the largest batches and for two sort windows. */
const MAX_OUTSTANDING = 8;

export interface EmbedTextsOptions {
  readonly signal: AbortSignal;
  /** One of the model's prompts, by name. */
  readonly prompt?: string | undefined;
  /** Called with the number of texts whose vectors have come. */
  readonly onProgress: (numDone: number) => void;
}

/** The vectors of many texts, in their order. Texts that are too long are cut. The first error ends all requests. */
export async function embedTexts(
  embedder: EmbedderHandle,
  texts: readonly string[],
  { signal, prompt, onProgress }: EmbedTextsOptions,
): Promise<Vectors> {
  const failing = new AbortController();
  const options = {
    normalize: true,
    truncate: true,
    prompt,
    signal: AbortSignal.any([signal, failing.signal]),
  };
  let vectors: { values: Float32Array; dimensions: number } | undefined;
  let [next, numDone] = [0, 0];
  const sendInTurn = async (): Promise<void> => {
    while (next < texts.length) {
      const start = next;
      next += TEXTS_PER_REQUEST;
      const piece = await embedder.remote(texts.slice(start, next), options);
      const dimensions = piece[0]?.embedding.length ?? 0;
      vectors ??= { values: new Float32Array(texts.length * dimensions), dimensions };
      for (const [row, { embedding }] of piece.entries())
        vectors.values.set(embedding, (start + row) * dimensions);
      numDone += piece.length;
      onProgress(numDone);
    }
  };
  try {
    await Promise.all(Array.from({ length: MAX_OUTSTANDING }, sendInTurn));
  } catch (error) {
    failing.abort();
    throw error;
  }
  return vectors ?? { values: new Float32Array(), dimensions: 1 };
}
