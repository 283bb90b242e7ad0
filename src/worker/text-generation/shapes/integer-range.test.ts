import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { rangeEbnf } from './integer-range.ts';

/** The EBNF here is a regular expression with quotes and spaces. */
function matcherOf(minimum: number, maximum: number): RegExp {
  return new RegExp(`^${rangeEbnf(minimum, maximum).replaceAll(/["\s]/g, '')}$`);
}

it('matches the integers of a range, near its bounds and elsewhere, and no others', () => {
  const integer = fc.oneof(
    fc.integer({ min: -200, max: 200 }),
    fc.integer({ min: -999_999_999_999_999, max: 999_999_999_999_999 }),
  );
  fc.assert(
    fc.property(integer, integer, fc.array(integer), (a, b, others) => {
      const [minimum, maximum] = [Math.min(a, b), Math.max(a, b)];
      const matcher = matcherOf(minimum, maximum);
      const near = [minimum, maximum].flatMap((bound) => [-11, -1, 0, 1, 11].map((offset) => bound + offset));
      for (const value of [...near, ...others, 0, 1, -1])
        expect(matcher.test(String(value)), `${value} in ${minimum}…${maximum}`).toBe(
          value >= minimum && value <= maximum,
        );
      for (const text of ['', '-', '-0', '00', '01', '1.5']) expect(matcher.test(text)).toBe(false);
    }),
    { numRuns: 500 },
  );
});
