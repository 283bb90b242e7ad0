import { expect, it } from 'vitest';

import { canThink } from './answer-syntax.ts';
import { chatTemplateBroken } from '../../../protocol/errors/model-messages.ts';

it.each([
  ['{{ messages }}<think></think>', true],
  ['{{ messages }}[THINK][/THINK]', true],
  ['{{ messages }}', false],
])('a model with the template %j can think, or not', (template, expected) => {
  expect(canThink({ sourceFor: () => template })).toBe(expected);
});

function sourceOfBroken(): never {
  throw chatTemplateBroken('none is the default');
}

it('a model whose template is broken can not think', () => {
  expect(canThink({ sourceFor: sourceOfBroken })).toBe(false);
});
