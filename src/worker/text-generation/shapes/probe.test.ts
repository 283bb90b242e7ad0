import { readFileSync } from 'node:fs';
import { it } from 'vitest';
import { createShape, loadShapedModel } from './test-support.ts';
it('p', { timeout: 60000 }, async () => {
  const model = await loadShapedModel();
  const fx = JSON.parse(readFileSync('tools/reference/fixtures/everyday-schemas-reference.json', 'utf8'));
  const list = fx.schemas ?? fx;
  let ok = 0;
  for (const { source, name, schema } of list) {
    const t = performance.now();
    try {
      await createShape(model, { type: 'json_schema', schema: JSON.parse(schema) });
      ok++;
    } catch (e: any) {
      console.log(source, name, e.message, schema.slice(0, 400));
    }
    if (performance.now() - t > 60) console.log(source, name, 'ms', performance.now() - t);
  }
  console.log('taken', ok, 'of', list.length);
});
