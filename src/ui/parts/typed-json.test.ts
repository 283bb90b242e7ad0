import { expect, it } from 'vitest';

import { parseTypedJson } from './typed-json.ts';

it('JSON that is typed is read', () => {
  const json = String.raw`{"a": [1, 2.50, 1e3, "9007199254740993", "\"9007199254740993"]}`;
  expect(parseTypedJson(json, 'This')).toEqual({
    a: [1, 2.5, 1000, '9007199254740993', '"9007199254740993'],
  });
  expect(parseTypedJson(' 7 ', 'This')).toBe(7);
});

it.each(['9007199254740993', '{"a": [9007199254740993]}', '{"9":9007199254740993}'])(
  '%s is refused for its number',
  (json) => {
    expect(() => parseTypedJson(json, 'The schema')).toThrow(
      'The schema has the number 9007199254740993, which would become 9007199254740992. Write',
    );
  },
);

it.each([
  ['{"a": }', 'This isn’t JSON: expected a value at column 7, got `}`. Correct it'],
  ['hello', 'This isn’t JSON: expected a value at column 1, got `hello`. Correct it, or put text in quotes.'],
  ['1, 2', 'This isn’t JSON: expected the end at column 2'],
])('%s is refused where it breaks', (json, message) => {
  expect(() => parseTypedJson(json, 'This')).toThrow(message);
});
