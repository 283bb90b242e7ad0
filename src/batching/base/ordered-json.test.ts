import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { isKept, parseOrderedJson, spellingOf, writeOrderedJson } from './ordered-json.ts';
import { runsOf } from '../testing/whole-run.ts';

/** What Python's `json.dumps(json.loads(text), separators=(',', ':'), ensure_ascii=False)` gives. */
const ROUND_TRIPS = [
  ['{"z":1,"10":2,"9":3}', '{"z":1,"10":2,"9":3}'],
  ['[{"2":{"1":[],"0":{}}},{"b":{"5":1,"4":2}}]', '[{"2":{"1":[],"0":{}}},{"b":{"5":1,"4":2}}]'],
  ['{"z": 1, "\\u0031": 2, "0": 3}', '{"z":1,"1":2,"0":3}'],
  ['{"9": 1, "b": 2, "8": 3, "9": 4}', '{"9":4,"b":2,"8":3}'],
  [
    '{"price": 2.0, "id": 1413617112501850121, "list": [-0.0, 1.5]}',
    '{"price":2.0,"id":1413617112501850121,"list":[-0.0,1.5]}',
  ],
  ['{"\\"1\\":": "7: {\\\\", "1": "\\\\\\""}', '{"\\"1\\":":"7: {\\\\","1":"\\\\\\""}'],
  ['{"__proto__": {"2": 1, "1": 2}, "1": 0}', '{"__proto__":{"2":1,"1":2},"1":0}'],
  [' 2.50 ', '2.5'],
  ['[]', '[]'],
] as const;

describe('JSON', () => {
  it.each(ROUND_TRIPS)('keeps its order and its numbers as Python does: %s', (text, expected) => {
    expect(writeOrderedJson(parseOrderedJson(text))).toBe(expected);
  });

  it('has its numbers as they were written beside any texts and keys, in every browser', () => {
    const near = fc.constantFrom('\0', '\0number 7', '\0text a', '"', '\\', 'number 1.0"', ',', ':', 'a');
    const text = fc.array(near, { maxLength: 4 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(fc.array(fc.tuple(text, text), { maxLength: 5 }), (pairs) => {
        const unique = [...new Map(pairs)];
        const members = unique.map(
          ([key, value], index) => `${JSON.stringify(key)}:[${index}.0,${JSON.stringify(value)}]`,
        );
        const json = `{${members.join(',')}}`;
        expect(writeOrderedJson(parseOrderedJson(json))).toBe(json);
      }),
      { numRuns: runsOf({ whole: 2000, part: 400 }) },
    );
  });

  it('is what JSON.parse gives, apart from the order of keys', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), fc.constantFrom(undefined, 2), (json, indent) => {
        // The 2.0 sends every text through the reader of its own.
        const text = `[2.0, ${JSON.stringify(JSON.parse(json), undefined, indent)}]`;
        expect(parseOrderedJson(text)).toEqual(JSON.parse(text));
      }),
    );
  });

  it('comes back in the order in which its keys were written, whatever they are', () => {
    const key = fc.oneof(
      fc.nat(20).map(String),
      fc.string(),
      fc.constantFrom('__proto__', '007', '-1', '4294967296'),
    );
    fc.assert(
      fc.property(fc.uniqueArray(key), (keys) => {
        const text = `{${keys.map((name, index) => `${JSON.stringify(name)}: ${index}`).join(', ')}}`;
        const read = Object(parseOrderedJson(text));
        expect(Object.keys(read)).toEqual(keys);
        expect(Object.entries(read)).toEqual(keys.map((name, index) => [name, index]));
      }),
    );
  });

  it('tells how a number was written, where its value does not', () => {
    const read = Object(parseOrderedJson('{"a": 1.10, "b": 2, "c": [1e3, 1e400]}'));
    expect([spellingOf(read, 'a'), spellingOf(read, 'b')]).toEqual(['1.10', undefined]);
    expect([spellingOf(read.c, 0), spellingOf(read.c, 1)]).toEqual(['1e3', '1e400']);
    expect(isKept(read)).toBe(true);
    expect(isKept(parseOrderedJson('{"a": 1, "temperature": 0.5}'))).toBe(false);
  });

  it.each(['{"a": 2.0', '{"10": 1,}', '["9": 1]', '', '01', '{"1": 2.0} x'])(
    'is refused as JSON.parse refuses it: %s',
    (text) => {
      expect(() => parseOrderedJson(text)).toThrow(SyntaxError);
    },
  );

  it.each([
    ['levels', `${'['.repeat(250_000)}2.0${']'.repeat(250_000)}`],
    ['backslashes', `["${'\\\\'.repeat(125_000)}", {"2": 1, "1": 2}]`],
    ['quotes', `["${'\\"'.repeat(250_000)}", {"2": 1, "1": 2}]`],
    ['numbers', `[${'2.0,'.repeat(125_000)}1]`],
    ['keys', `{${Array.from({ length: 40_000 }, (_, index) => `"${40_000 - index}":1`).join(',')}}`],
  ])('takes no stack, and time for each character once: 500 kB of %s', (_, text) => {
    expect(parseOrderedJson(text)).toBeDefined();
  });

  it('is refused beyond a depth, before the rest is read', () => {
    expect(() => parseOrderedJson(`${'['.repeat(65)}2.0${']'.repeat(65)}`, 64)).toThrow(
      'it is nested deeper than 64 levels',
    );
    expect(parseOrderedJson(`${'['.repeat(64)}2.0${']'.repeat(64)}`, 64)).toBeDefined();
  });
});
