import { InferenceSession, Tensor } from 'onnxruntime-web/wasm';
import { describe, expect, it } from 'vitest';

import decoders from '../../../reference/fixtures/decoders-reference.json' with { type: 'json' };
import storyteller from '../../../reference/fixtures/storyteller-reference.json' with { type: 'json' };
import { openFolder, STORYTELLER } from './checkpoint.ts';
import { EXPORTED_IO } from './exported-graph.ts';
import { buildStandardModel } from './standard-interface.ts';
import { writeDecoder } from './test-support.ts';

const SMOLLM2 = 'generated/smollm2';

const MODELS = [
  { name: 'GPT-2', url: STORYTELLER, prompts: storyteller.prompts },
  {
    name: 'SmolLM2',
    url: writeDecoder(SMOLLM2),
    prompts: decoders[SMOLLM2].prompts,
  },
];

describe('buildStandardModel', () => {
  it.each(MODELS)(
    "continues two rows over a growing cache with PyTorch's tokens: $name",
    async ({ url, prompts }) => {
      const [entry] = prompts;
      if (!entry) throw new Error('The reference has no prompts.');
      const { numLayers, numKvHeads, headSize } = (await openFolder(url)).model.config;
      const session = await InferenceSession.create(await buildStandardModel(url, 'fp32'), {
        executionProviders: ['wasm'],
      });
      const empty = (): Tensor => new Tensor('float32', new Float32Array(0), [2, numKvHeads, 0, headSize]);
      const names = Array.from({ length: numLayers }, (_, layer) => [
        EXPORTED_IO.pastKey(layer),
        EXPORTED_IO.pastValue(layer),
      ]).flat();
      let cache: Record<string, Tensor> = Object.fromEntries(names.map((name) => [name, empty()]));
      let next = entry.promptTokenIds;
      let total = 0;
      const generated: number[][] = [];
      for (let step = 0; step < entry.greedyTokenIds.length; step++) {
        const first = total;
        total += next.length;
        const outputs = await session.run({
          [EXPORTED_IO.ids]: twice(next),
          [EXPORTED_IO.mask]: twice(Array.from({ length: total }, () => 1)),
          [EXPORTED_IO.positions]: twice(next.map((_, index) => first + index)),
          ...cache,
        });
        const tokens = likeliest(outputs[EXPORTED_IO.logits]);
        generated.push(tokens);
        cache = Object.fromEntries(
          names.map((name) => [name, required(outputs[name.replace('past_key_values', 'present')])]),
        );
        next = tokens.slice(0, 1);
      }
      expect(generated).toEqual(entry.greedyTokenIds.map((id) => [id, id]));
    },
  );
});

/** [2, length] */
function twice(row: readonly number[]): Tensor {
  return new Tensor('int64', BigInt64Array.from([...row, ...row], BigInt), [2, row.length]);
}

/** @param logits [rows, 1, vocab] */
function likeliest(logits: Tensor | undefined): number[] {
  const { data, dims } = required(logits);
  if (!(data instanceof Float32Array)) throw new TypeError('Expected float32 logits');
  const [numRows = 0, numTokens, vocabSize = 0] = dims;
  expect(numTokens).toBe(1);
  return Array.from({ length: numRows }, (_, row) => {
    const own = data.subarray(row * vocabSize, (row + 1) * vocabSize);
    return own.indexOf(Math.max(...own));
  });
}

function required(tensor: Tensor | undefined): Tensor {
  if (!tensor) throw new Error('Expected the session to return this output');
  return tensor;
}
