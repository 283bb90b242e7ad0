import { describe, expect, it } from 'vitest';
import { GIBIBYTE, gpuWith, WASM } from '../checkpoint/test-support.ts';
import { suggestModels } from './suggestions.ts';

const GPU = gpuWith({ maxBufferSize: 4 * GIBIBYTE });

/** Bytes of `model.safetensors` on the hub, without the causal masks, which are not fetched, where they are known. */
const FILE_SIZES: Readonly<Record<string, number>> = {
  'HuggingFaceTB/SmolLM2-135M-Instruct': 269_060_552,
  'HuggingFaceTB/SmolLM2-360M-Instruct': 723_674_912,
  'Qwen/Qwen2.5-0.5B-Instruct': 988_097_824,
  'Qwen/Qwen3-0.6B': 1_503_300_328,
  'unsloth/Llama-3.2-1B-Instruct': 2_471_645_608,
  'openai-community/gpt2': 548_105_171 - 12 * 1024 * 1024 * 4,
  'distilbert/distilgpt2': 352_824_413 - 6 * 1024 * 1024 * 4,
  'sentence-transformers/all-MiniLM-L6-v2': 90_868_376,
  'BAAI/bge-small-en-v1.5': 133_466_304,
  'cross-encoder/ms-marco-MiniLM-L6-v2': 90_870_598,
};

describe('the suggested models', () => {
  it('are downloads of the sizes that the hub has', () => {
    const sizes = suggestModels(GPU)
      .filter(({ id }) => id in FILE_SIZES)
      .map(({ id, downloadBytes }) => [id, downloadBytes] as const);
    expect(sizes.map(([id]) => id)).toEqual(Object.keys(FILE_SIZES));
    const headers = sizes.map(([id, downloadBytes]) => (FILE_SIZES[id] ?? NaN) - downloadBytes);
    // The header of the file comes on top.
    expect(Math.min(...headers)).toBeGreaterThan(5_000);
    expect(Math.max(...headers)).toBeLessThan(50_000);
  });

  it('have the parameters that their authors count', () => {
    const counts = suggestModels(GPU).map(({ numParameters }) => Math.round(numParameters / 1e6));
    expect(counts).toEqual([135, 362, 354, 494, 596, 1236, 1170, 352, 1485, 3075, 124, 82, 23, 33, 23]);
  });

  it('take their weights and one sequence of 4,096 tokens with its prefill, or of their own context', () => {
    const [small] = suggestModels(GPU);
    const kvBytesPerToken = 2 * 30 * 3 * 64 * 2;
    expect(small).toMatchObject({ dtype: 'fp16', contextLength: 4096, obstacle: '' });
    const weightBytes = (small?.memoryBytes ?? 0) - 2 * 4096 * kvBytesPerToken;
    expect(weightBytes / (2 * (small?.numParameters ?? 0))).toBeCloseTo(1, 3);
    expect(named('distilbert/distilgpt2')?.contextLength).toBe(1024);
  });

  it('name the deployment of an encoder, which takes no memory but for its weights', () => {
    const encoders = suggestModels(GPU).filter(({ deployment }) => deployment !== undefined);
    expect(encoders.map(({ deployment }) => deployment)).toEqual(['embedder', 'embedder', 'reranker']);
    for (const { memoryBytes, numParameters } of encoders)
      expect(memoryBytes / (2 * numParameters)).toBeCloseTo(1, 2);
  });

  it('are smaller where the device is, down to those that do not fit', () => {
    for (const { id, dtype } of suggestModels(GPU))
      expect({ id, dtype }).toEqual({ id, dtype: id.includes('SmolLM3') ? 'q8' : 'fp16' });
    for (const { id, numParameters, dtype } of suggestModels(WASM))
      expect({ id, dtype }).toEqual({ id, dtype: numParameters > 67e6 ? 'q8' : 'fp32' });
    const phone = suggestModels({ ...WASM, memoryBytes: GIBIBYTE });
    const large = phone.find(({ id }) => id.includes('Llama'));
    expect(large).toMatchObject({ dtype: 'q4', obstacle: expect.stringMatching(/^as q4 with a context/) });
    expect(phone[0]).toMatchObject({ obstacle: '' });
  });
});

function named(id: string) {
  return suggestModels(GPU).find((model) => model.id === id);
}
