import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { rangePattern, type NumberRange } from './number-range.ts';
import { runsOf } from '../../../batching/testing/whole-run.ts';

function matcherOf(range: NumberRange): RegExp {
  return new RegExp(`^${rangePattern(range)}$`, 'u');
}

/** A count of the last decimal's units, as JSON writes it with the zeros at its end. */
function textOf(units: number, numDecimals: number): string {
  const digits = String(Math.abs(units)).padStart(numDecimals + 1, '0');
  const dot = digits.length - numDecimals;
  return `${units < 0 ? '-' : ''}${digits.slice(0, dot)}${numDecimals > 0 ? '.' : ''}${digits.slice(dot)}`;
}

/** The spellings of a number: with each number of the zeros at its end. */
function spellingsOf(text: string): readonly string[] {
  const spellings = [text];
  for (let at = text.length; text.includes('.') && /[.0]/.test(text[at - 1] ?? ''); at -= 1) {
    spellings.push(text.slice(0, text[at - 1] === '.' ? at - 1 : at));
    if (text[at - 1] === '.') break;
  }
  return spellings.filter((spelling) => !spelling.endsWith('.'));
}

it('matches the numbers of a range in all their spellings, near its bounds and elsewhere, and no others', () => {
  const units = fc.oneof(
    fc.integer({ min: -200, max: 200 }),
    fc.integer({ min: -999_999_999_999_999, max: 999_999_999_999_999 }),
  );
  fc.assert(
    fc.property(
      units,
      units,
      fc.integer({ min: 0, max: 15 }),
      fc.array(units),
      (a, b, numDecimals, others) => {
        const [from, to] = [Math.min(a, b), Math.max(a, b)];
        const matcher = matcherOf({ from, to, numDecimals });
        const near = [from, to].flatMap((bound) => [-11, -1, 0, 1, 11].map((offset) => bound + offset));
        const unit = 10 ** numDecimals;
        for (const value of [...near, ...others, 0, 1, -1, unit, -unit, 10 * unit].filter(
          Number.isSafeInteger,
        ))
          for (const text of spellingsOf(textOf(value, numDecimals)))
            expect(matcher.test(text), `${text} in ${from}…${to} of ${numDecimals}`).toBe(
              value >= from && value <= to,
            );
        for (const text of ['', '-', '-0', '00', '01', '.5', '5.', `0.${'0'.repeat(numDecimals)}1`])
          expect(matcher.test(text), `“${text}”`).toBe(false);
      },
    ),
    { numRuns: runsOf({ whole: 500, part: 150 }) },
  );
});
