import { expect, it } from 'vitest';

import { Gate } from './gate.ts';

it('lets tasks in the background wait behind all others', async () => {
  const gate = new Gate(1);
  const [order, first] = [[] as string[], Promise.withResolvers<void>()];
  const run = (name: string, isBackground: boolean) =>
    gate.run(async () => {
      order.push(name);
      if (name === 'first') await first.promise;
    }, isBackground);
  const all = [run('first', true), run('row', true), run('row 2', true), run('prompt', false)];
  first.resolve();
  await Promise.all(all);
  expect(order).toEqual(['first', 'prompt', 'row', 'row 2']);
});
