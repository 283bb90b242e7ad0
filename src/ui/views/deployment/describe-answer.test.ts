import { expect, it } from 'vitest';

import { describeCounts, describeResult } from './describe-answer.ts';

const circular: unknown[] = [];
circular.push(circular);

it.each([
  [{ a: [1, 'two', null, true] }, '{"a":[1,"two",null,true]}'],
  ['text', '"text"'],
  [undefined, 'undefined'],
  [[Number.NaN, Infinity, -0], '[NaN,Infinity,-0]'],
  [{ big: 2n ** 64n, gone: undefined }, '{"big":18446744073709551616n,"gone":undefined}'],
  [new Map([['a', new Set([1])]]), 'Map [["a",Set [1]]]'],
  [Float32Array.of(0.5, 2), 'Float32Array [0.5,2]'],
  [BigInt64Array.of(3n), 'BigInt64Array [3n]'],
  [new Date(0), '"1970-01-01T00:00:00.000Z"'],
  [new ArrayBuffer(2), '[object ArrayBuffer]'],
  [circular, '[object Array]'],
])('an answer is shown as it is, also where JSON would make another value of it: %o', (answer, shown) => {
  expect(describeResult('own', answer)).toBe(shown);
});

it('a long answer says that it is cut', () => {
  const shown = describeResult('own', 'x'.repeat(1_000_000));
  expect(shown).toMatch(/x… \(the first 20,000 of 1,000,002 characters\)$/);
  expect(shown.length).toBeLessThan(20_100);
});

it('a price is in euros, and only a house has one', () => {
  expect(describeResult('house-price', 1234.4)).toBe('€1,234');
  expect(describeResult('own', 1234.4)).toBe('1234.4');
});

it.each([
  [3, 0, '3 settled'],
  [499, 2, '499 settled, 2 waiting'],
  [500, 0, 'newest 500 settled'],
  [500, 1200, 'newest 500 settled, 1,200 waiting'],
])(
  '%i settled and %i waiting answers are counted, the newest where older ones are gone',
  (settled, waiting, text) => {
    expect(describeCounts(settled, waiting)).toBe(text);
  },
);
