import { expect, it } from 'vitest';

import { createTabs } from '../testing/test-support.ts';
import { nameOfSender } from './sender.ts';

it('names this tab by its number where there are others, and each other tab by its own', () => {
  const { tabs } = createTabs(2, 1);
  expect([undefined, 2, 1].map((sender) => nameOfSender(sender, tabs))).toEqual([
    'Tab 2, this one',
    'Tab 2, this one',
    'Tab 1',
  ]);
});

it('says of a tab that it is closed, and needs no number for the only one', () => {
  const { tabs } = createTabs(2);
  expect(nameOfSender(1, tabs)).toBe('Tab 1, closed');
  expect(nameOfSender(undefined, tabs)).toBe('This tab');
  expect(nameOfSender(undefined, [])).toBe('This tab');
});

it('names what is no tab by what it is', () => {
  expect(nameOfSender('HTTP', [])).toBe('HTTP');
  expect(nameOfSender('Jobs', [])).toBe('Jobs');
});
