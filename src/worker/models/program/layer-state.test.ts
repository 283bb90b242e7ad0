import { expect, it } from 'vitest';
import { ProgramBuilder } from './program-builder.ts';
import type { Program, Value } from './program.ts';

const TABLE = { name: 'words.weight', shape: [10, 8], role: 'embedding' } as const;
const NARROW = { numHeads: 2, numKvHeads: 1, headSize: 4 };
const WIDE = { numHeads: 2, numKvHeads: 2, headSize: 6 };

function programOf(add: (model: ProgramBuilder, x: Value) => Value): Program {
  const model = new ProgramBuilder();
  const output = add(model, model.embed('token', TABLE));
  return model.end(output.per === 'text' ? output : model.head(output, TABLE));
}

it('keeps keys and values of the heads of each layer, by its window', () => {
  const { states } = programOf((model, x) => {
    const narrow = model.attend(model.qkv(x, 'a.qkv', NARROW), 'a', NARROW, { scale: 1, isCausal: true });
    const shape = { scale: 1, isCausal: true, window: 3 };
    return model.linear(model.attend(model.qkv(narrow, 'b.qkv', WIDE), 'b', WIDE, shape), 'out', 8);
  });
  expect(states).toEqual([
    { kind: 'tokens', numKvHeads: 1, headSize: 4 },
    { kind: 'tokens', numKvHeads: 2, headSize: 6, window: 3 },
  ]);
});

it('keeps nothing for a layer that attends to the keys and values of an earlier one', () => {
  const shape = { scale: 1, isCausal: true };
  const { states } = programOf((model, x) => {
    const [query, key, value] = model.qkv(x, 'a.qkv', NARROW);
    const first = model.attend([query, key, value], 'a', NARROW, shape);
    const second = model.attend(model.qkv(first, 'b.qkv', NARROW), 'b', NARROW, shape);
    return model.attend([model.linear(second, 'c.query', 8), key, value], 'c', NARROW, shape);
  });
  expect(states).toMatchObject([{ kind: 'tokens' }, { kind: 'tokens' }, { kind: 'shared', layer: 0 }]);
});

it('keeps the values of a convolution that the next token needs', () => {
  const { states } = programOf((model, x) => model.shortConv(x, 'conv', 3));
  expect(states).toEqual([{ kind: 'row', shape: [2, 8] }]);
});

it.each([true, false])('keeps nothing of a model that reads whole texts: causal %s', (isCausal) => {
  const { states } = programOf((model, x) =>
    model.pool(model.attend(model.qkv(x, 'a.qkv', NARROW), 'a', NARROW, { scale: 1, isCausal })),
  );
  expect(states).toEqual([]);
});
