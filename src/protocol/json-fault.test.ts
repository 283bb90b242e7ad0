import * as fc from 'fast-check';
import { expect, it } from 'vitest';

import { parseJson } from '../platform/parse-json.ts';
import { isLinear } from '../platform/testing/growth.ts';
import { describeJsonFault } from './json-fault.ts';

it.each([
  ['', 'expected a value at column 1, got the end'],
  ['{"a":}', 'expected a value at column 6, got `}`'],
  ['{"a":1,}', 'expected a name in double quotes at column 8, got `}`'],
  ["{'a':1}", "expected a name in double quotes or `}` at column 2, got `'`"],
  ['{"a" 1}', 'expected `:` at column 6, got `1`'],
  ['{"a":None}', 'expected a value at column 6, got `None`'],
  ['[1 2]', 'expected `,` or `]` at column 4, got `2`'],
  ['[1,]', 'expected a value at column 4, got `]`'],
  ['[,1]', 'expected a value or `]` at column 2, got `,`'],
  ['[01]', 'expected `,` or `]` at column 3, got `1`'],
  ['{"a":[1,2}', 'expected `,` or `]` at column 10, got `}`'],
  ['{"a":1} x', 'expected the end at column 9, got `x`'],
  ['{\n  "a": 1,\n  "b": "c\n}', 'expected an escape such as `\\n` at line 3, column 10, got a line break'],
  ['{\n  "a"\n}\n', 'expected `:` at line 3, column 1, got `}`'],
  ['{"a":\r\n', 'expected a value at column 6, got the end'],
  ['"a\\x"', 'expected an escape such as `\\n` at column 3, got `\\x`'],
  ['"a', 'expected `"` at column 3, got the end'],
  ['"a\tb"', 'expected an escape such as `\\n` at column 3, got U+0009'],
  ['\u00A0{}', 'expected a value at column 1, got U+00A0'],
])('%j: %s', (text, fault) => {
  expect(describeJsonFault(text)).toBe(fault);
});

/** A text that JSON.parse has refused is named by a place of its own, and no other is. */
const edit = fc.record({
  at: fc.nat(),
  length: fc.nat({ max: 2 }),
  text: fc.constantFrom(
    '',
    ',',
    ':',
    '"',
    '{',
    '}',
    '[',
    ']',
    '\\',
    '\n',
    '1',
    '-',
    'e',
    '.',
    'true',
    '\u{1F600}',
  ),
});

it('finds a fault in what JSON.parse refuses, and in nothing else', () => {
  fc.assert(
    fc.property(fc.json(), fc.array(edit, { maxLength: 3 }), (json, edits) => {
      const text = edits.reduce((given, { at, length, text: other }) => {
        const start = at % (given.length + 1);
        return given.slice(0, start) + other + given.slice(start + length);
      }, json);
      expect(describeJsonFault(text) === undefined).toBe(parseJson(text) !== undefined);
    }),
    { numRuns: 500 },
  );
});

it.each(['[', '{"a":', '"\\n', '\n'])('takes linear time for many %j', async (part) => {
  expect(await isLinear(2 ** 18, (length) => describeJsonFault(part.repeat(length)))).toBe(true);
});
