import { expect, it } from 'vitest';

import type { JsonSchema, ResponseFormat } from '../../../batching/options/response-format.ts';
import { randomAnswer } from '../../testing/random-answers.ts';
import { loadShapedModel } from './test-support.ts';
import { SEED, IS_WHOLE } from '../../../batching/testing/whole-run.ts';

// A pattern is of the value: its JSON text escapes quotes, backslashes and control characters.

const NUM_ANSWERS = IS_WHOLE ? 100 : 5;

const PATTERNS = [
  '^[^,]{1,8}$',
  '^[^@ ]{1,8}$',
  String.raw`^\W{1,4}$`,
  String.raw`^\D{1,4}$`,
  String.raw`^\S\s\S$`,
  '^[ -~]{2,6}$',
  '^[^a-z]{1,3}$',
  '^.{1,5}$',
  String.raw`^[^]{3}$`,
  String.raw`^a\nb$`,
  String.raw`^(\n|\t|\r|\f|\v|\0)x$`,
  String.raw`^C:\\\w{1,5}$`,
  String.raw`^"[^"]{0,4}"$`,
  String.raw`^\/\\\/$`,
  String.raw`^[\x00-\x1f]{1,3}$`,
  String.raw`^[\\"]{1,4}$`,
  '^[^\u0000-\u007f]$',
  '^(é|\u{1F600}|\u2028|\u007f)$',
];

const model = await loadShapedModel();

/** Reads the texts that the pattern is of from an answer; throws if the answer isn't JSON. */
type Read = (answer: string) => readonly string[];

function readArray(answer: string): readonly string[] {
  return JSON.parse(answer);
}

const PLACES: Readonly<
  Record<string, (pattern: string) => { readonly format: ResponseFormat; readonly read: Read }>
> = {
  'a value': (pattern) => ({
    format: schemaOf({ type: 'array', items: { type: 'string', pattern }, minItems: 1, maxItems: 2 }),
    read: readArray,
  }),
  'a value of 8 characters at most': (pattern) => ({
    format: schemaOf({
      type: 'array',
      items: { type: 'string', pattern, maxLength: 8 },
      minItems: 1,
      maxItems: 1,
    }),
    read: (answer) => {
      const values = readArray(answer);
      expect(Array.from(values.join('')).length).toBeLessThanOrEqual(8);
      return values;
    },
  }),
  'a key': (pattern) => ({
    format: schemaOf({
      type: 'object',
      propertyNames: { pattern },
      additionalProperties: { type: 'boolean' },
    }),
    read: (answer) => Object.keys(JSON.parse(answer)),
  }),
  'an argument of a tool': (pattern) => ({
    format: {
      type: 'structural_tag',
      format: {
        type: 'tag',
        begin: '<call>{"name": "f", "arguments": ',
        content: {
          type: 'json_schema',
          json_schema: {
            type: 'object',
            properties: { text: { type: 'string', pattern } },
            required: ['text'],
            additionalProperties: false,
          },
        },
        end: '}</call>',
      },
    },
    read: (answer) => [JSON.parse(answer.slice('<call>'.length, -'</call>'.length)).arguments.text],
  }),
};

it.each(Object.entries(PLACES))(
  `a pattern of %s is of the value, whatever its JSON text escapes (SEED=${SEED})`,
  async (_, of) => {
    let numRead = 0;
    for (const [index, pattern] of PATTERNS.entries()) {
      const { format, read } = of(pattern);
      // Each pattern has seeds of its own: one that chooses no key chooses none for any.
      for (let answers = 0; answers < NUM_ANSWERS; answers += 1) {
        const seed = SEED + index * NUM_ANSWERS + answers;
        const answer = await randomAnswer(model, format, seed);
        if (answer === undefined) continue;
        for (const value of read(answer)) {
          expect(value, `${pattern} in ${answer}, seed ${seed}`).toMatch(new RegExp(pattern, 'u'));
          numRead += 1;
        }
      }
    }
    // Most random answers of some seeds have no end within their length.
    expect(numRead).toBeGreaterThan((PATTERNS.length * NUM_ANSWERS) / 6);
  },
  600_000,
);

function schemaOf(schema: JsonSchema): ResponseFormat {
  return { type: 'json_schema', schema };
}
