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

it('says of a tab that it is closed, and keeps the number of the one that is left', () => {
  const { tabs } = createTabs(2);
  expect(nameOfSender(1, tabs)).toBe('Tab 1, closed');
  expect([undefined, 2].map((sender) => nameOfSender(sender, tabs))).toEqual([
    'Tab 2, this one',
    'Tab 2, this one',
  ]);
});

it('needs no number for the first tab while it is the only one', () => {
  const { tabs } = createTabs(1);
  expect([undefined, 1].map((sender) => nameOfSender(sender, tabs))).toEqual(['This tab', 'This tab']);
  expect(nameOfSender(undefined, [])).toBe('This tab');
});

it('names what is no tab by what it is', () => {
  expect(nameOfSender('HTTP', [])).toBe('HTTP');
  expect(nameOfSender('Jobs', [])).toBe('Jobs');
});
