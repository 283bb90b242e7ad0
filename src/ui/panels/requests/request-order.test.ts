import { expect, it } from 'vitest';

import { cellIds, countHidden, earlierIds } from './request-order.ts';
import { createRequest, createTables } from '../../testing/test-support.ts';

const REQUESTS = ['old', 'experiment', 'first', 'second'].map((name) => createRequest(name));
const TABLES = createTables(REQUESTS, ['first', 'cleared', 'second']);

it('has a cell for each request of the newest run that is still known, in the order of submission', () => {
  expect(cellIds(TABLES)).toEqual(['first', 'second']);
  expect(cellIds({ ...TABLES, runs: {} })).toEqual([]);
});

it('lists all others as earlier ones, newest first', () => {
  expect(earlierIds(TABLES)).toEqual(['experiment', 'old']);
  expect(earlierIds({ ...TABLES, runs: {} })).toHaveLength(4);
});

it('hides the first cells of a long run, twenty at a time, until they are asked for', () => {
  expect([40, 41, 60, 61].map((numCells) => countHidden(numCells, 0))).toEqual([0, 20, 20, 40]);
  expect([41, 61].map((numCells) => countHidden(numCells, 1))).toEqual([0, 20]);
});
