import { expect, it } from 'vitest';
import { columnsIn, fillTemplate } from './job-template.ts';

it('puts texts in place of columns, once, whatever the texts are', () => {
  const row = { 'a b': '{{x}} $1 $&', x: 'X', toString: 'own' };
  expect(fillTemplate('<{{ a b }}|{{x}}|{{x}}|{{toString}}|{ x }>', row)).toBe('<{{x}} $1 $&|X|X|own|{ x }>');
  expect(columnsIn('{{x}} {{ a b }} {{x}}')).toEqual(['x', 'a b']);
});

it('refuses a column that the row lacks, also one that every object inherits', () => {
  const refusal = { code: 'JOB_COLUMN_MISSING', message: expect.stringContaining('it has `x`') };
  for (const template of ['{{y}}', '{{constructor}}', '{{}}'])
    expect(() => fillTemplate(template, { x: '1' })).toThrow(expect.objectContaining(refusal));
});
