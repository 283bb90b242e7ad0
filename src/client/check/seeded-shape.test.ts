import { expect, it } from 'vitest';
import { judgeShapes } from './seeded-shape.ts';

it('takes an answer with both properties, each of its kind', () => {
  expect(judgeShapes(['{"kind": "cat", "age": 3}', '{"kind": "bird", "age": 20}'])).toEqual({
    outcome: 'right',
    detail: '2 of 2 answers fit their JSON Schema.',
  });
});

it.each([
  ['cut JSON', '{"kind": "cat", "a'],
  ['another kind', '{"kind": "cow", "age": 3}'],
  ['an age beyond its bounds', '{"kind": "cat", "age": 21}'],
  ['an age below its bounds', '{"kind": "cat", "age": 0}'],
  ['an age that is no integer', '{"kind": "cat", "age": 1.5}'],
  ['an age as a text', '{"kind": "cat", "age": "3"}'],
  ['a missing property', '{"kind": "cat"}'],
  ['another property', '{"kind": "cat", "age": 3, "name": "Tom"}'],
  ['no object', 'null'],
])('refuses %s', (_, answer) => {
  expect(judgeShapes(['{"kind": "dog", "age": 1}', answer])).toEqual({
    outcome: 'wrong',
    detail: '1 of 2 answers fit their JSON Schema.',
  });
});
