import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { StopMatcher } from './stop-matcher.ts';
import { runsOf } from '../../batching/testing/whole-run.ts';

/** Few letters, so that stop strings come about, overlap and contain each other. */
const letters = fc.constantFrom('a', 'b', 'é', '\u{1F600}');
const text = fc.string({ unit: letters, maxLength: 40 });
const stopStrings = fc.array(fc.string({ unit: letters, minLength: 1, maxLength: 5 }), { maxLength: 4 });
const pieces = fc.array(fc.string({ unit: letters, maxLength: 6 }), { maxLength: 12 });

/** Checks every beginning of the text in turn. The first one that ends in stop strings ends the text, before the longest of them. */
function textBeforeStop(whole: string, stops: readonly string[], numExempt = 0): string | undefined {
  for (let end = numExempt + 1; end <= whole.length; end++) {
    const beginning = whole.slice(0, end);
    const lengths = stops.filter((stop) => beginning.endsWith(stop)).map(({ length }) => length);
    if (lengths.length > 0) return beginning.slice(0, end - Math.max(...lengths));
  }
  return undefined;
}

/** All that no stop string can hold any more. */
function textShownOf(whole: string, stops: readonly string[]): string {
  for (let index = 0; index < whole.length; index++) {
    const end = whole.slice(index);
    if (stops.some((stop) => stop.startsWith(end))) return whole.slice(0, index);
  }
  return whole;
}

describe('a text with stop strings', () => {
  it('is at each piece what a look at the whole text so far would show', () => {
    fc.assert(
      fc.property(pieces, stopStrings, (parts, stops) => {
        const matcher = new StopMatcher(stops);
        let [whole, shown] = ['', ''];
        for (const part of parts) {
          whole += part;
          shown += matcher.push(part);
          const stopped = textBeforeStop(whole, stops);
          expect(matcher.isStopped).toBe(stopped !== undefined);
          expect(shown).toBe(stopped ?? textShownOf(whole, stops));
        }
        expect(shown + matcher.end()).toBe(textBeforeStop(whole, stops) ?? whole);
      }),
      { numRuns: runsOf({ whole: 2000, part: 500 }) },
    );
  });

  it('ends with the stop string where that is its last part', () => {
    fc.assert(
      fc.property(pieces, stopStrings, (parts, stops) => {
        const [before, after] = [new StopMatcher(stops), new StopMatcher(stops, true)];
        const shownBy = (matcher: StopMatcher): string => parts.map((part) => matcher.push(part)).join('');
        const shown = shownBy(after);
        const without = shownBy(before);
        expect(after.isStopped).toBe(before.isStopped);
        expect(shown.startsWith(without)).toBe(true);
        expect(after.isStopped ? stops : ['']).toContain(shown.slice(without.length));
      }),
      { numRuns: runsOf({ whole: 2000, part: 500 }) },
    );
  });

  it('is not ended by a stop string that is complete before its first pieces are over', () => {
    fc.assert(
      fc.property(pieces, stopStrings, fc.nat({ max: 12 }), (parts, stops, numExempt) => {
        const matcher = new StopMatcher(stops);
        const shown = parts.map((part, index) => matcher.push(part, index >= numExempt)).join('');
        const exempt = parts.slice(0, numExempt).join('').length;
        const whole = parts.join('');
        const expected = textBeforeStop(whole, stops, exempt);
        expect(matcher.isStopped).toBe(expected !== undefined);
        expect(shown + matcher.end()).toBe(expected ?? whole);
      }),
      { numRuns: runsOf({ whole: 2000, part: 500 }) },
    );
  });

  it('is the same however it is cut', () => {
    fc.assert(
      fc.property(text, stopStrings, (whole, stops) => {
        const [atOnce, oneByOne] = [new StopMatcher(stops), new StopMatcher(stops)];
        const shown = Array.from(whole, (character) => oneByOne.push(character)).join('');
        expect(shown + oneByOne.end()).toBe(atOnce.push(whole) + atOnce.end());
      }),
      { numRuns: runsOf({ whole: 2000, part: 500 }) },
    );
  });
});
