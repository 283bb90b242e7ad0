import * as fc from 'fast-check';
import { expect, it } from 'vitest';

import { parsePrefix } from './parse-prefix.ts';

it.each([
  ['', undefined],
  ['{', {}],
  ['{"na', {}],
  ['{"name"', {}],
  ['{"name": ', {}],
  ['{"name": "An', { name: 'An' }],
  [String.raw`{"name": "a\\\"b\u00e`, { name: String.raw`a\"b` }],
  [String.raw`{"name": "a\\`, { name: 'a\\' }],
  ['{"a": {"b": tr', { a: {} }],
  ['{"a": {"b": true}, "c": -', { a: { b: true } }],
  ['{"a": [1, 2], "c": [', { a: [1, 2], c: [] }],
  ['[1, 2.', [1]],
  ['null', null],
  ['Once upon', undefined],
])('reads %j as %j', (text, value) => {
  expect(parsePrefix(text)).toEqual(value);
});

it('has a value for every beginning of an object, which the whole one ends', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.boolean(), (object, isSpaced) => {
      const text = JSON.stringify(object, undefined, isSpaced ? 2 : undefined);
      for (let length = 1; length < text.length; length += 1)
        expect(parsePrefix(text.slice(0, length))).toBeTypeOf('object');
      expect(parsePrefix(text)).toEqual(JSON.parse(text));
    }),
    { numRuns: 25 },
  );
});
