import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { sortWindow } from './row-runner.ts';
import { runsOf } from '../batching/testing/whole-run.ts';

const NUM_RUNS = runsOf({ whole: 500, part: 150 });
const SHARED = 'Classify this text. ';

const text = fc
  .record({ group: fc.nat({ max: 3 }), own: fc.string({ maxLength: 60 }) })
  .map(({ group, own }) => SHARED + (group > 0 ? String(group).repeat(130) : '') + own);

it('keeps every row, those with a common beginning together, and the longest of these first', () => {
  fc.assert(
    fc.property(fc.array(text, { maxLength: 40 }), (texts) => {
      const rows = texts.map((each, index) => ({ index, text: each }));
      const sorted = sortWindow(rows);
      expect(sorted.map(({ index }) => index).toSorted((a, b) => a - b)).toEqual(
        rows.map(({ index }) => index),
      );
      const groups = sorted.map((row) => {
        const key = row.text.slice(SHARED.length, SHARED.length + 60);
        return /^(.)\1{59}$/.test(key) ? key : '';
      });
      const borders = groups.filter((key, at) => at > 0 && key !== groups[at - 1]);
      const numGroups = new Set(groups).size;
      expect(borders.length).toBe(Math.max(0, numGroups - 1));
      const follows = sorted.slice(1).filter((_, at) => groups[at] === groups[at + 1]);
      const isShorter = follows.map(
        (row) => row.text.length <= (sorted[sorted.indexOf(row) - 1]?.text.length ?? 0),
      );
      expect(isShorter).toEqual(follows.map(() => true));
    }),
    { numRuns: NUM_RUNS },
  );
});
