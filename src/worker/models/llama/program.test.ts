import { describe, expect, it } from 'vitest';
import type { WasmBackend } from '../../runtime/wasm/wasm-backend.ts';
import { createWasmBackend, runRows } from '../../testing/wasm-rows.ts';
import { readModel } from '../families.ts';
import type { ModelTensor } from '../model-config.ts';

const TINY = {
  vocab_size: 32,
  hidden_size: 48,
  intermediate_size: 64,
  num_hidden_layers: 2,
  num_attention_heads: 2,
  num_key_value_heads: 1,
  head_dim: 32,
  max_position_embeddings: 64,
};

/**
 * One of each kind of layer; Gemma's two differ in window and base. The logits are the first of the last token of `LONG`,
 * from huggingface/transformers 5.23 in float64 with the same weights.
 */
const KINDS = [
  {
    config: { ...TINY, model_type: 'llama', attention_bias: true, mlp_bias: true },
    logits: [0.501709, 0.705115, -1.068357, 0.48833, -0.24399, 0.071519],
  },
  {
    config: { ...TINY, model_type: 'mistral', sliding_window: 4 },
    logits: [-0.638169, 0.69592, 0.69732, -1.987055, -0.352982, 0.697128],
  },
  {
    config: { ...TINY, model_type: 'qwen2', tie_word_embeddings: true },
    logits: [0.46298, 0.539662, -0.561186, -0.590827, -2.041165, 0.096685],
  },
  {
    config: { ...TINY, model_type: 'qwen3' },
    logits: [0.44956, 0.859569, -0.538132, -0.436672, 0.351187, -0.369952],
  },
  {
    config: { ...TINY, model_type: 'gemma3_text', sliding_window: 4, sliding_window_pattern: 2 },
    logits: [-1.197041, 2.641947, 1.230758, -1.190085, -0.812684, 2.470824],
  },
];

const TOLERANCE = 1e-5;

/** As the reference numbers them: the norm before an MLP comes behind its three matrices. */
function numbered(weights: readonly ModelTensor[]): readonly ModelTensor[] {
  const placed = weights.map((tensor, index) => ({
    tensor,
    place: tensor.name.includes('pre_feedforward') ? index + 3.5 : index,
  }));
  return placed.toSorted((a, b) => a.place - b.place).map(({ tensor }) => tensor);
}

function createBackend(config: object): Promise<WasmBackend> {
  const model = readModel(config, undefined);
  const program = { ...model.program, weights: numbered(model.program.weights) };
  return createWasmBackend({ ...model, program }, (i, tensorIndex) => Math.sin(i * i + tensorIndex) / 2);
}

/** The logits of each row's last token. */
const run = async (...given: Parameters<typeof runRows>) => [...(await runRows(...given))];

function largestDifference(a: readonly number[], b: readonly number[]): number {
  expect(a).toHaveLength(b.length);
  return Math.max(...a.map((value, i) => Math.abs(value - (b[i] ?? NaN))));
}

const LONG = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8];
const SHORT = [27, 18, 28];

describe.each(KINDS)('$config.model_type', ({ config, logits }) => {
  it('gives the logits of transformers', async () => {
    const all = await run(await createBackend(config), [{ tokenIds: LONG }]);
    expect(largestDifference(all.slice(0, logits.length), logits)).toBeLessThan(TOLERANCE);
  });

  it('gives the same logits at once, in chunks, and token by token beside another row', async () => {
    const backend = await createBackend(config);
    const long = await run(backend, [{ tokenIds: LONG }]);
    const short = await run(backend, [{ tokenIds: SHORT }]);
    await run(backend, [{ tokenIds: LONG.slice(0, 7) }]);
    const chunked = await run(backend, [{ tokenIds: LONG.slice(7), start: 7 }]);
    expect(largestDifference(chunked, long)).toBeLessThan(TOLERANCE);
    await run(backend, [{ tokenIds: LONG.slice(0, -1) }, { tokenIds: SHORT.slice(0, -1) }]);
    const decoded = await run(backend, [
      { tokenIds: LONG.slice(-1), start: LONG.length - 1 },
      { tokenIds: SHORT.slice(-1), start: SHORT.length - 1 },
    ]);
    expect(largestDifference(decoded, [...long, ...short])).toBeLessThan(TOLERANCE);
  });
});

it('attends to a window of as many tokens as the config says, the last one included', async () => {
  const backend = await createBackend({
    ...TINY,
    model_type: 'mistral',
    sliding_window: 4,
    num_hidden_layers: 1,
  });
  const logits = await run(backend, [{ tokenIds: [7, 7, 3, 1, 4, 5] }]);
  const outside = await run(backend, [{ tokenIds: [7, 8, 3, 1, 4, 5] }]);
  const inside = await run(backend, [{ tokenIds: [7, 7, 9, 1, 4, 5] }]);
  expect(largestDifference(outside, logits)).toBe(0);
  expect(largestDifference(inside, logits)).toBeGreaterThan(0.01);
});
