import { expect, it } from 'vitest';

import { createRequest, createStatus, createTabs, createTables } from '../../testing/test-support.ts';
import { describeTab, tabsIn } from './tab-rows.ts';

const { requests } = createTables(
  [
    createRequest('own', { status: 'running' }),
    createRequest('waits', { status: 'waiting' }),
    createRequest('over'),
    createRequest('second', { status: 'running', sender: 2 }),
    createRequest('stopped', { status: 'cancelled', sender: 3 }),
    createRequest('done', { sender: 3 }),
    createRequest('row', { status: 'running', sender: 'Jobs' }),
  ],
  [],
);
const view = { requests, status: createStatus(createTabs(1, 2)) };

it('lists the open tabs, and a closed one while its texts are listed', () => {
  expect(tabsIn(view)).toEqual([1, 2, 3]);
  expect(tabsIn({ ...view, requests: new Map() })).toEqual([1, 2]);
});

it('says who runs the model, what runs and waits, and what ended with a closed tab', () => {
  expect(tabsIn(view).map((number) => describeTab(number, view))).toEqual([
    'Tab 1, this one · runs the model · 1 running · 1 waiting',
    'Tab 2 · 1 running',
    'Tab 3, closed: 1 text ended with it',
  ]);
});

it('says that the model is not in memory while it is ejected', () => {
  const ejected = { requests: new Map(), status: { ...view.status, isEjected: true } as const };
  expect(tabsIn(ejected).map((number) => describeTab(number, ejected))).toEqual([
    'Tab 1, this one · model ejected',
    'Tab 2',
  ]);
});

it('says no more of a tab that is at rest than its name', () => {
  const idle = { ...view, requests: new Map() };
  expect(describeTab(2, idle)).toBe('Tab 2');
  expect(describeTab(3, idle)).toBe('Tab 3, closed');
});
