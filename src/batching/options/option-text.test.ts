import { expect, it } from 'vitest';

import { optionOf, type OptionName } from './generation-options.ts';
import { defaultText, expectedText, optionFromText } from './option-text.ts';

it.each<[OptionName, string, unknown]>([
  ['maxNewTokens', '12', 12],
  ['temperature', '0.5', 0.5],
  ['logprobs', 'true', true],
  ['logprobs', '3', 3],
  ['ignoreEos', 'false', false],
  ['stop', 'a,b', 'a,b'],
  ['stopTokenIds', '262,13', [262, 13]],
  ['logitBias', '262:-100, 13:2.5', { 262: -100, 13: 2.5 }],
  ['tools', '[]', []],
  ['toolChoice', 'none', 'none'],
  ['toolChoice', '{"type": "function"}', { type: 'function' }],
])('%s typed as %s is its value', (name, text, value) => {
  expect(optionFromText(optionOf(name), text)).toEqual(value);
});

it.each<[OptionName, string]>([
  ['maxNewTokens', ' '],
  ['temperature', 'warm'],
  ['logprobs', 'yes'],
  ['ignoreEos', '1'],
  ['stopTokenIds', '262,'],
  ['logitBias', '262'],
  ['logitBias', '5:1,5:2'],
  ['tools', '[{'],
  ['toolChoice', '{'],
])('%s typed as “%s” has no value', (name, text) => {
  expect(optionFromText(optionOf(name), text)).toBeUndefined();
});

it.each<[OptionName, RegExp]>([
  ['stop', /a text of 1 to \d+ characters/],
  ['stopTokenIds', /token ids, like/],
  ['logitBias', /a number from -100 to 100 each/],
  ['maxNewTokens', /integer/],
])('what %s expects is said in the form of its text', (name, expected) => {
  expect(expectedText(optionOf(name))).toMatch(expected);
});

it('a default is shown as a word: a list by its members, none where there is nothing to show', () => {
  expect([['a', 'b'], [], 1, false, 'auto', undefined].map(defaultText)).toEqual([
    'a or b',
    'none',
    '1',
    'false',
    'auto',
    'none',
  ]);
});
