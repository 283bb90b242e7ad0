import { expect, it } from 'vitest';

import { isMadeWhole, isRounded } from './lost-digits.ts';
import { isVanishing } from './rounded-integers.ts';

it.each([
  ['9007199254740993', true],
  ['-9007199254740993.0', true],
  ['9.007199254740993e15', true],
  ['90071992547409930E-1', true],
  ['9007199254740993e10', true],
  ['9007199254740992.0', false],
  ['1e23', false],
  ['1e+23', false],
  ['1.2345678901234567e20', false],
  ['0.12345678901234567890123', false],
  ['0.0', false],
  ['12.50', false],
  ['120', false],
  [`1${'0'.repeat(400)}.5`, false],
])('an integer of JavaScript holds what %s spells, or rounds it', (text, expected) => {
  expect(isRounded(text)).toBe(expected);
});

it.each([
  ['1e-400', true],
  ['-0.001e-400', true],
  ['0e-400', false],
  ['-0', false],
  ['5e-324', false],
  ['', false],
])('%s becomes 0, or is what it says', (text, expected) => {
  expect(isVanishing(text)).toBe(expected);
});

it.each([
  ['2.9999999999999999999', true],
  ['-29999999999999999999e-19', true],
  ['2.9', false],
  ['3.0', false],
  ['30e-1', false],
  ['0.0', false],
  ['', false],
])('%s becomes an integer, or is what it says', (text, expected) => {
  expect(isMadeWhole(text)).toBe(expected);
});
