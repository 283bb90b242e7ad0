import { describe, expect, it } from 'vitest';
import { isLinear } from '../platform/testing/growth.ts';
import { columnsIn, fillTemplate, missingColumn } from './job-template.ts';

it('puts texts in place of columns, once, whatever the texts are', () => {
  const row = { 'a b': '{{x}} $1 $&', x: 'X', toString: 'own' };
  expect(fillTemplate('<{{ a b }}|{{x}}|{{x}}|{{toString}}|{ x }>', row)).toBe('<{{x}} $1 $&|X|X|own|{ x }>');
  expect(columnsIn('{{x}} {{ a b }} {{x}}')).toEqual(['x', 'a b']);
});

it('refuses a column that the row lacks, also one that every object inherits', () => {
  const refusal = { code: 'JOB_COLUMN_MISSING', message: expect.stringContaining('it has `x`') };
  for (const template of ['{{y}}', '{{constructor}}', '{{__proto__}}', '{{}}'])
    expect(() => fillTemplate(template, { x: '1' })).toThrow(expect.objectContaining(refusal));
});

it('takes a column of any name, and numbers as they are written', () => {
  const row = '{"constructor":"c","__proto__":1413617112501850121,"":1.10," a":2.0,"prototype":1e400}';
  expect(fillTemplate('{{constructor}} {{__proto__}} {{}} {{ a }} {{prototype}}', row)).toBe(
    'c 1413617112501850121 1.10 2.0 1e400',
  );
  expect(missingColumn('{{a}} {{b}}', [' a'])).toBe('b');
});

it('refuses a prompt that grows too long before it is made', () => {
  const row = { a: 'x'.repeat(2 ** 16) };
  expect(() => fillTemplate('{{a}}'.repeat(100_000), row)).toThrow(
    expect.objectContaining({ code: 'PROMPT_TOO_LONG' }),
  );
});

describe('a template of 1 MB takes time in proportion to its length', () => {
  it.each([
    ['blanks behind an opening', '{{', ' '],
    ['openings alone', '', '{{'],
    ['openings and blanks', '', '{{ '],
    ['closings alone', '{{', '}'],
    ['blanks within', '{{ a', ' '],
    ['placeholders', '', '{{a}}'],
  ])('of %s', async (_, begin, part) => {
    const isFast = await isLinear(2 ** 20, (length) => {
      try {
        return fillTemplate(begin + part.repeat(Math.ceil(length / part.length)), { a: '' });
      } catch {
        return undefined;
      }
    });
    expect(isFast).toBe(true);
  });
});
