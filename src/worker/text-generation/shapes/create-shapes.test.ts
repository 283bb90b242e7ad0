import { expect, it, vi } from 'vitest';

import { createShapes } from './create-shapes.ts';
import { ShapeCompiler } from './shape-compiler.ts';
import { loadShapedModel } from './test-support.ts';

it('a vocabulary whose preparation failed is prepared again for the next shape', async () => {
  const model = await loadShapedModel();
  vi.spyOn(ShapeCompiler, 'create').mockRejectedValueOnce(new TypeError('Failed to fetch'));
  const format = { type: 'choice', choices: ['yes', 'no'] } as const;
  await expect(createShapes(format, model, [[]])).rejects.toThrow('Failed to fetch');
  await expect(createShapes(format, model, [[]])).resolves.toHaveLength(1);
});
