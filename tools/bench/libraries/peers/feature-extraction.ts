import { pipeline } from '@huggingface/transformers';

import { listsOf, type EncoderContender, type EncoderDtype } from '../encoder.ts';
import { describeDevice, readOwnServerOnly } from './runtime.ts';

/** The `feature-extraction` pipeline on the CPU, as the library's documents use it for sentences. */
export async function loadPipeline(dtype: EncoderDtype): Promise<EncoderContender> {
  readOwnServerOnly();
  const extractor = await pipeline('feature-extraction', 'minilm', { device: 'wasm', dtype });
  return {
    runsOn: `${await describeDevice('wasm')}, ${dtype}`,
    async embed(texts, way) {
      const vectors: number[][] = [];
      const startedAtMs = performance.now();
      for (const list of listsOf(texts, way)) {
        const output = await extractor(list, { pooling: 'mean', normalize: true });
        vectors.push(...output.tolist());
      }
      return { wallMs: performance.now() - startedAtMs, vectors };
    },
  };
}
