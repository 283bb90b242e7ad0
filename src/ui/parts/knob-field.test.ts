import { expect, it } from 'vitest';

import { knobText, knobValue } from './knob-field.tsx';

it.each([
  ['unlimited', Infinity],
  ['auto', 'auto'],
  ['256', 2 ** 28],
  ['0.5', 2 ** 19],
] as const)('a knob of bytes is typed in MiB: %s', (text, value) => {
  expect(knobValue(` ${text} `, 2 ** 20)).toBe(value);
  expect(knobText(value, 2 ** 20)).toBe(text);
});

it('a text that is no number is left to the worker, which refuses it', () => {
  expect(knobValue('much')).toBeNaN();
  expect(knobText(undefined)).toBe('');
});
