import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bytesIn, joinRanges, missingRanges, splitRanges, type ByteRange } from './byte-ranges.ts';

const LENGTH = 40;

const range = fc
  .tuple(fc.nat(LENGTH), fc.nat(LENGTH))
  .map(([a, b]): ByteRange => ({ begin: Math.min(a, b), end: Math.max(a, b) }));
const ranges = fc.array(range, { maxLength: 8 });

/** One by one. */
function bytesOf(list: readonly ByteRange[]): number[] {
  const bytes = new Set(
    list.flatMap(({ begin, end }) => Array.from({ length: end - begin }, (_, i) => begin + i)),
  );
  return [...bytes].toSorted((a, b) => a - b);
}

describe('ranges of bytes', () => {
  it('join to the same bytes, with a gap before each but the first', () => {
    fc.assert(
      fc.property(ranges, (list) => {
        const joined = joinRanges(list);
        expect(bytesOf(joined)).toEqual(bytesOf(list));
        for (const [i, { begin, end }] of joined.entries()) {
          expect(begin).toBeLessThan(end);
          expect(begin).toBeGreaterThan(joined[i - 1]?.end ?? -1);
        }
      }),
    );
  });

  it('miss exactly the wanted bytes that are not present', () => {
    fc.assert(
      fc.property(ranges, ranges, (wanted, present) => {
        const there = new Set(bytesOf(present));
        const missing = missingRanges(wanted, present);
        expect(bytesOf(missing)).toEqual(bytesOf(wanted).filter((byte) => !there.has(byte)));
        expect(bytesIn(missing)).toBe(bytesOf(missing).length);
      }),
    );
  });

  it('split into pieces that are no longer than asked for', () => {
    fc.assert(
      fc.property(ranges, fc.integer({ min: 1, max: 9 }), (list, maxBytes) => {
        const joined = joinRanges(list);
        const pieces = splitRanges(joined, maxBytes);
        expect(bytesOf(pieces)).toEqual(bytesOf(joined));
        expect(bytesIn(pieces)).toBe(bytesIn(joined));
        for (const { begin, end } of pieces) expect(end - begin).toBeLessThanOrEqual(maxBytes);
      }),
    );
  });
});
