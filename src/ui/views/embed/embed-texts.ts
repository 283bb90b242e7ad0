import type { EmbedderHandle } from '../../../client/index.ts';

/**
 * Texts of one request: those of a sort window. The worker tokenizes a request between batches and queues its texts together, so
 * smaller requests make smaller batches. Larger ones show progress less often.
 */
const TEXTS_PER_REQUEST = 128;

/** Requests at a time: one is tokenized while another runs. */
const MAX_OUTSTANDING = 4;

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
): Promise<readonly Float32Array[]> {
  const failing = new AbortController();
  const options = {
    normalize: true,
    truncate: true,
    prompt,
    signal: AbortSignal.any([signal, failing.signal]),
  };
  const vectors = texts.map((): Float32Array => new Float32Array());
  let [next, numDone] = [0, 0];
  const sendInTurn = async (): Promise<void> => {
    while (next < texts.length) {
      const start = next;
      next += TEXTS_PER_REQUEST;
      const piece = await embedder.remote(texts.slice(start, next), options);
      for (const [row, { embedding }] of piece.entries()) vectors[start + row] = embedding;
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
  return vectors;
}
