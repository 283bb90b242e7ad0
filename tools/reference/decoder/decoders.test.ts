import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import reference from '../fixtures/decoders-reference.json' with { type: 'json' };
import {
  ReferenceExecutor,
  ReferenceRow,
  weightsOf,
} from '../../../src/worker/testing/reference-executor.ts';
import { DECODERS } from '../../hub-server/checkpoints/decoders.ts';
import { CPU, folderOf, packModel } from '../run-model.ts';
import { IS_WHOLE, SEED } from '../../../src/batching/testing/whole-run.ts';

/** The reference has seven digits, and its angles are rounded to fp32. */
const PRECISION = 2e-6;

/** For Qwen3.5, transformers computes norms and linear attention in float32. */
const PRECISION_OF_FLOAT32 = 1e-5;

it('generated decoders are those that the reference was computed for', () => {
  expect([...DECODERS.keys()].toSorted()).toEqual(Object.keys(reference).toSorted());
  for (const [id, { files }] of Object.entries(reference)) {
    const generated = Array.from(DECODERS.get(id)?.() ?? [], ([name, file]) => {
      const sha256 = createHash('sha256').update(file.read(0, file.size)).digest('hex');
      return [name, { size: file.size, sha256 }];
    });
    expect({ id, files: Object.fromEntries(generated) }).toEqual({ id, files });
  }
});

it.each(Object.entries(reference).map(([id, { prompts }], index) => [id, prompts, index] as const))(
  'the executor that readers are held against gives the logits of transformers for %s',
  async (id, prompts, index) => {
    const { packed } = await packModel(folderOf(DECODERS.get(id)?.() ?? new Map()), 'fp32', CPU);
    const executor = new ReferenceExecutor(
      packed.model.program,
      weightsOf({ ...packed, weights: await packed.weights.bytes() }),
    );
    const expected = prompts.flatMap(({ promptTokenIds, logits }) =>
      logits ? [{ promptTokenIds, logits }] : [],
    );
    // In a part each length is that of a third of the decoders.
    const some = expected.filter((_, at) => IS_WHOLE || (SEED + index + at) % expected.length === 0);
    expect(some.length).toBeGreaterThan(0);
    for (const { promptTokenIds, logits } of some) {
      const actual = executor.run(new ReferenceRow(), promptTokenIds).at(-1) ?? [];
      const errors = logits.map((logit, i) => Math.abs(logit - (actual[i] ?? NaN)));
      expect(Math.max(...errors)).toBeLessThan(id.includes('qwen35') ? PRECISION_OF_FLOAT32 : PRECISION);
    }
  },
);
