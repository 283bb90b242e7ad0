import { expect, it } from 'vitest';

import { describeSame, describeTexts, splitTexts } from './compare-texts.ts';

const SAME = ['one', 'two', 'three'];

it('says that all texts are the same', () => {
  expect(describeTexts([SAME, SAME, SAME])).toBe('All 3 texts are the same under each policy.');
  expect(describeTexts([['one'], ['one'], ['one']])).toBe('The text is the same under each policy.');
});

it('counts the prompts whose texts differ under any policy', () => {
  const differing = ['one', 'TWO', 'three'];
  expect(describeTexts([SAME, SAME, differing])).toBe('1 of 3 texts differs between the policies.');
  expect(describeTexts([SAME, ['ONE', 'two', 'three'], differing])).toMatch(/^2 of 3 texts differ /);
});

it('compares no text that failed', () => {
  const failing = ['one', undefined, 'three'];
  expect(describeTexts([failing, SAME, SAME])).toBe(
    'All 2 texts are the same under each policy. 1 of 3 failed.',
  );
  expect(describeTexts([[undefined], ['one'], ['one']])).toMatch(/^No text could be compared\./);
});

it('counts the texts that two models share', () => {
  expect(describeSame([SAME, ['one', 'TWO', 'three']])).toBe('2 of 3 texts are the same.');
  expect(describeSame([SAME, ['one', 'TWO', undefined]])).toBe('1 of 2 texts is the same. 1 of 3 failed.');
  expect(describeSame([['one'], [undefined]])).toMatch(/^No text could be compared\./);
});

it('splits texts before the word in which they part', () => {
  expect(splitTexts('a small dog ran', 'a small door')).toEqual({
    shared: 'a small ',
    rests: ['dog ran', 'door'],
  });
  expect(splitTexts('one', 'two')).toEqual({ shared: '', rests: ['one', 'two'] });
  expect(splitTexts(' a', ' b')).toEqual({ shared: ' ', rests: ['a', 'b'] });
});
