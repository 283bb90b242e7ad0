import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { canWrite, createShape, loadShapedModel } from './test-support.ts';
import { runsOf } from '../../../batching/testing/whole-run.ts';

it('a choice lets no text pass that mixes two of its texts', async () => {
  const model = await loadShapedModel();
  const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'd'), minLength: 1, maxLength: 6 });
  const texts = fc.uniqueArray(text, { minLength: 8, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(texts, async (choices) => {
      const mixed = choices.flatMap((first) => choices.map((second) => first.slice(0, 2) + second.slice(2)));
      for (const each of new Set([...choices.slice(0, 3), ...mixed.slice(0, 40)])) {
        const shape = await createShape(model, { type: 'choice', choices });
        const written = await canWrite(model, shape, each);
        expect(written, `“${each}”`).toBe(choices.includes(each));
      }
    }),
    { numRuns: runsOf({ whole: 500, part: 15 }) },
  );
});
