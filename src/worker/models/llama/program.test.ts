import { expect, it } from 'vitest';
import { ReferenceExecutor, ReferenceRow } from '../../testing/reference-executor.ts';
import { readModel } from '../families/families.ts';
import { countElements } from '../program/model-config.ts';

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

/** The logits of the last token, on the executor that readers of programs are held against. */
function logitsOf(config: object, tokenIds: readonly number[]): readonly number[] {
  const { program } = readModel({ ...TINY, ...config }, undefined);
  const weights = program.weights.map(
    ({ name, shape }, index) =>
      [
        name,
        Float32Array.from({ length: countElements(shape) }, (_, i) => Math.sin(i * i + index) / 2),
      ] as const,
  );
  return new ReferenceExecutor(program, new Map(weights)).run(new ReferenceRow(), tokenIds).at(-1) ?? [];
}

function largestDifference(a: readonly number[], b: readonly number[]): number {
  return Math.max(...a.map((value, i) => Math.abs(value - (b[i] ?? NaN))));
}

/** The generated decoders of the tests have no such biases; theirs are in `tools/reference/decoder`. */
it('gives the logits of transformers where products have biases', () => {
  const config = { model_type: 'llama', attention_bias: true, mlp_bias: true };
  const logits = logitsOf(config, [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8]);
  // The first six of huggingface/transformers 5.23 in float64 with the same weights.
  const expected = [0.501709, 0.705115, -1.068357, 0.48833, -0.24399, 0.071519];
  expect(largestDifference(expected, logits)).toBeLessThan(1e-6);
});

it('attends to a window of as many tokens as the config says, the last one included', () => {
  const config = { model_type: 'mistral', sliding_window: 4, num_hidden_layers: 1 };
  const logits = logitsOf(config, [7, 7, 3, 1, 4, 5]);
  const outside = logitsOf(config, [7, 8, 3, 1, 4, 5]);
  const inside = logitsOf(config, [7, 7, 9, 1, 4, 5]);
  expect(largestDifference(outside, logits)).toBe(0);
  expect(largestDifference(inside, logits)).toBeGreaterThan(0.01);
});
