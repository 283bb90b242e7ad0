import { expect, it } from 'vitest';

import { InvalidOptionError } from '../../client/index.ts';
import { knobRefusal, knobText, knobValue } from './knob-field.tsx';

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
  expect(knobValue('much', 2 ** 20)).toBeNaN();
  expect(knobValue('0x10')).toBeNaN();
  expect(knobValue('9007199254740993')).toBeNaN();
  expect(knobValue('1.5')).toBe(1.5);
  expect(knobText(undefined)).toBe('');
});

it.each([
  ['an integer >= 1 and <= 64', '2,5', 1, 'Expected an integer >= 1 and <= 64, got “2,5”.'],
  ['a finite number >= 0', ' unlimited ', 1, 'Expected a finite number >= 0, got “unlimited”.'],
  ['auto, or a number >= 0 or Infinity', '', 1, 'Expected auto, or a number >= 0 or unlimited, got “”.'],
  ['an integer >= 1 or Infinity', '1e-9', 2 ** 20, 'Expected a number > 0 or unlimited, got “1e-9”.'],
])(
  'a refusal repeats what was typed, not what the page made of it: %s, %s',
  (expected, typed, unit, said) => {
    const { message } = InvalidOptionError.of('someKnob', expected, knobValue(typed, unit));
    expect(knobRefusal(message, typed, unit)).toBe(said);
  },
);

it('another refusal stays as it is', () => {
  expect(knobRefusal('The worker is gone.', '3')).toBe('The worker is gone.');
});
