import { expect, it } from 'vitest';
import { ProgramBuilder } from './program-builder.ts';

const TABLE = { name: 'words.weight', shape: [10, 8], role: 'embedding' } as const;
const CAUSAL = { scale: 1, isCausal: true };
const HEADS = { numHeads: 2, numKvHeads: 1, headSize: 4 };

function begun() {
  const model = new ProgramBuilder();
  return { model, x: model.embed('token', TABLE) };
}

it('has each tensor once, and the shapes of matrices from the values that they multiply', () => {
  const { model, x } = begun();
  const qkv = model.qkv(x, 'qkv', HEADS, { hasBias: true });
  const inner = model.linear(model.attend(qkv, 'attention', HEADS, CAUSAL), 'inner', 8);
  const { weights } = model.end(model.head(model.add(x, inner), TABLE));
  expect(weights.map(({ name, shape }) => [name, ...shape])).toEqual([
    ['words.weight', 10, 8],
    ['qkv.weight', 16, 8],
    ['qkv.bias', 16],
    ['inner.weight', 8, 8],
  ]);
});

it('refuses values of other shapes, and says which', () => {
  const { model, x } = begun();
  const narrow = model.linear(x, 'narrow', 6);
  const shape = 'narrow of 6 values per token';
  expect(() => model.add(x, narrow)).toThrow(`add gets words of 8 values per token, ${shape}`);
  expect(() => model.head(narrow, TABLE)).toThrow(`head words.weight of 8 values gets ${shape}`);
  expect(() => model.norm(narrow, 'norm', { method: 'rms', epsilon: 1 }, 4)).toThrow(shape);
  expect(() => model.attend([x, narrow, x], 'attention', HEADS, CAUSAL)).toThrow(shape);
  expect(() => model.shortConv(x, 'conv', 1)).toThrow('shortConv of 1 tokens gets words of 8');
  expect(() => model.add(x, model.pool(x))).toThrow('pooled of 8 values per text');
});

it('refuses keys that are shared with other values, or by other heads', () => {
  const { model, x } = begun();
  const qkv = model.qkv(x, 'qkv', HEADS);
  const [query, key] = qkv;
  model.attend(qkv, 'first', HEADS, CAUSAL);
  expect(() => model.attend([query, key, key], 'second', HEADS, CAUSAL)).toThrow('the keys of first');
  expect(() =>
    model.attend(qkv, 'second', { ...HEADS, numHeads: 4, numKvHeads: 2, headSize: 2 }, CAUSAL),
  ).toThrow('the keys of first');
});

it('refuses a value that it has not made, a second one of the same name, and one that nothing reads', () => {
  const { model, x } = begun();
  const other = begun().x;
  expect(() => model.pool(other)).toThrow('pool reads words, which no operation has made');
  expect(() => model.embed('token', TABLE)).toThrow('Two operations make words');
  model.linear(x, 'unread', 8);
  expect(() => model.end(model.head(x, TABLE))).toThrow('No operation reads unread');
});
