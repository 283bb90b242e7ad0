import { describe, expect, it } from 'vitest';
import { clientId } from '../../../batching/generation/test-support.ts';
import { createTabNumbers } from '../../test-support.ts';
import { OpenTabs } from './open-tabs.ts';

const [A, B, C, D] = [clientId('a'), clientId('b'), clientId('c'), clientId('d')];

function numbersOf(openTabs: OpenTabs): readonly number[] {
  return openTabs.current.tabs.map(({ number }) => number);
}

describe('open tabs', () => {
  it('are numbered in the order of their first message', () => {
    const openTabs = new OpenTabs({ tabs: [], leader: A, last: 0 });
    for (const id of [B, A, B]) openTabs.add(id);
    expect(openTabs.current).toEqual({
      tabs: [
        { clientId: B, number: 1 },
        { clientId: A, number: 2 },
      ],
      leader: A,
      last: 2,
    });
  });

  it('keep their numbers at the next worker, in whatever order they come, before a tab that is new', () => {
    const openTabs = new OpenTabs({ ...createTabNumbers('a', 'b', 'c'), leader: C });
    expect(numbersOf(openTabs), 'none has come yet').toEqual([]);
    for (const id of [D, C, B]) openTabs.add(id);
    expect([B, C, D].map((id) => openTabs.numberOf(id))).toEqual([2, 3, 4]);
    expect(numbersOf(openTabs)).toEqual([2, 3, 4]);
  });

  it('take no number of a closed tab, which has it again should it come back', () => {
    const openTabs = new OpenTabs({ ...createTabNumbers('a'), last: 3 });
    openTabs.add(B);
    expect([openTabs.delete(B), openTabs.delete(B), openTabs.delete(D)]).toEqual([true, false, false]);
    openTabs.add(C);
    expect(numbersOf(openTabs)).toEqual([5]);
    openTabs.add(B);
    expect(numbersOf(openTabs)).toEqual([4, 5]);
  });
});
