import { expect, it } from 'vitest';

import { describeComparison, describeTexts } from './compare-texts.ts';

it('says how long it took together and one at a time', () => {
  expect(describeComparison(600, 2100)).toBe('3.5× faster: 0.6 s together, 2.1 s one at a time.');
});

it('claims no gain where there is none', () => {
  expect(describeComparison(600, 610)).toMatch(/^About the same:/);
  expect(describeComparison(600, 400)).toMatch(/^Faster one at a time:/);
});

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
