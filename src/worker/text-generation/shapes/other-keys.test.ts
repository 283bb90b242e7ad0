import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { canWrite, createShape, loadShapedModel } from './test-support.ts';
import { runsOf } from '../../../batching/testing/whole-run.ts';

it('keys beside the listed ones are all others, and none of those', async () => {
  const model = await loadShapedModel();
  const key = fc.string({ unit: fc.constantFrom('a', 'b', ' '), maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(key, { minLength: 1, maxLength: 6 }), async (keys) => {
      const schema = {
        type: 'object',
        properties: Object.fromEntries(keys.map((listed) => [listed, { type: 'null' }])),
        additionalProperties: { type: 'integer' },
      };
      const near = keys.flatMap((listed) => [listed, listed.slice(0, -1), `${listed}a`, `c${listed}`]);
      for (const other of new Set(near)) {
        const shape = await createShape(model, { type: 'json_schema', schema });
        const written = await canWrite(model, shape, JSON.stringify({ [other]: 1 }).replace(':', ': '));
        expect(written, `“${other}” beside ${JSON.stringify(keys)}`).toBe(!keys.includes(other));
      }
    }),
    { numRuns: runsOf({ whole: 300, part: 12 }) },
  );
});
