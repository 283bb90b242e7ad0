import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import type { Group, Samples, Subject } from './bench-case.ts';
import { measureGroups, only } from './measure-groups.ts';
import { UsageError } from './usage-error.ts';

beforeEach(() => void vi.spyOn(console, 'log').mockReturnValue());
afterEach(() => vi.restoreAllMocks());

/** Takes the rates one after another, and writes its name to `order`. */
function subject(name: string, rates: readonly number[], order: string[] = []): Subject {
  let round = 0;
  return {
    labels: [name],
    measure(): Promise<Samples> {
      order.push(name);
      return Promise.resolve({ rate: rates[round++] ?? 0, ms: [1, 2, 3] });
    },
  };
}

function groupOf(subjects: readonly Subject[]): Group {
  return {
    caption: 'Rates',
    labels: [''],
    columns: [
      { name: 'rate', digits: 1, shows: 'p50' },
      { name: 'ms', unit: 'ms', digits: 0, shows: 'p50 / p95' },
    ],
    ratio: { header: 'over a', column: 'rate' },
    subjects,
  };
}

describe('measureGroups', () => {
  it('begins each round with another subject', async () => {
    const order: string[] = [];
    await measureGroups([groupOf(['a', 'b', 'c'].map((name) => subject(name, [1, 1], order)))], 2);
    expect(order).toEqual(['a', 'b', 'c', 'b', 'c', 'a']);
  });

  it('compares a subject with the first one round by round', async () => {
    const [group] = await measureGroups(
      [groupOf([subject('a', [1, 100, 10]), subject('b', [2, 300, 20])])],
      3,
    );
    expect(group?.rows[0]).not.toHaveProperty('ratio');
    expect(group?.rows[1]?.ratio).toMatchObject({ count: 3, p50: 2, min: 2, max: 3 });
  });

  it('keeps percentiles of all samples', async () => {
    const [group] = await measureGroups([groupOf([subject('a', [5, 7])])], 2);
    expect(group?.rows[0]?.figures['rate']).toMatchObject({ count: 2, p50: 6, min: 5, max: 7 });
    expect(group?.rows[0]?.figures['ms']).toMatchObject({ count: 6, p50: 2, p95: 3 });
  });

  it('leaves a peer out from its failure on, and fails with one of ours', async () => {
    const failing = { labels: ['b'], measure: () => Promise.reject(new Error('out of memory\nat x')) };
    const [group] = await measureGroups([groupOf([subject('a', [1, 1]), { ...failing, mayFail: true }])], 2);
    expect(group?.rows[1]).toEqual({ labels: ['b'], missing: 'failed: out of memory', figures: {} });
    await expect(measureGroups([groupOf([failing])], 1)).rejects.toThrow('out of memory');
  });

  it('does not measure what is left out', async () => {
    const order: string[] = [];
    const leftOut = { ...subject('b', [1], order), leftOut: 'no GPU' };
    const [group] = await measureGroups([groupOf([subject('a', [1], order), leftOut])], 1);
    expect(order).toEqual(['a']);
    expect(group?.rows[1]?.missing).toBe('no GPU');
  });
});

describe('only', () => {
  const groups = [groupOf([subject('a', []), subject('b', [])])];

  it('keeps the rows that contain the text, and all without one', () => {
    expect(only(groups, 'Rates b')[0]?.subjects.map(({ labels }) => labels)).toEqual([['b']]);
    expect(only(groups, undefined)).toBe(groups);
  });

  it('lists the rows if none contains the text', () => {
    const message = 'No row contains “zzz”. The rows are:\n  Rates a\n  Rates b';
    expect(() => only(groups, 'zzz')).toThrow(new UsageError(message));
  });
});
