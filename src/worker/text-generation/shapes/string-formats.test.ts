import { Ajv2020 } from 'ajv/dist/2020.js';
import ajvFormats from 'ajv-formats';
import { expect, it } from 'vitest';
import type { JsonSchema } from '../../../batching/options/response-format.ts';
import { parseOrderedJson } from '../../../batching/base/ordered-json.ts';
import { randomAnswer } from '../../testing/random-answers.ts';
import { FORMATS, NUM_STANDARD_FORMATS } from './string-formats.ts';
import { accepts, createShape, loadShapedModel } from './test-support.ts';
import { IS_WHOLE } from '../../../batching/testing/whole-run.ts';

const ajv = new Ajv2020({ strict: false });
ajvFormats(ajv);
const model = await loadShapedModel();
const NUM_TEXTS = IS_WHOLE ? 200 : 20;

/** Texts of allowed tokens, those of them that end. */
async function randomValues(schema: JsonSchema): Promise<readonly unknown[]> {
  const values = [];
  for (let seed = 0; seed < NUM_TEXTS; seed += 1) {
    const text = await randomAnswer(model, { type: 'json_schema', schema }, seed);
    if (text !== undefined) values.push(JSON.parse(text));
  }
  return values;
}

it.each([...Object.keys(FORMATS).slice(0, NUM_STANDARD_FORMATS), 'byte'])(
  'texts of the format %s are those that ajv-formats takes',
  async (format) => {
    const values = await randomValues({ type: 'string', format });
    expect(values.length).toBeGreaterThan(NUM_TEXTS / 4);
    const validate = ajv.compile({ type: 'string', format });
    expect(values.filter((value) => !validate(value))).toEqual([]);
  },
);

it.each([
  { type: 'integer', multipleOf: 7 },
  { type: 'integer', multipleOf: 1000, minimum: -50_000, maximum: 1e6 },
  { type: 'number', multipleOf: 0.01 },
  { type: 'number', multipleOf: 0.25, exclusiveMinimum: 0, maximum: 1000 },
  { type: 'integer', multipleOf: 1.5 },
  { type: 'array', items: { enum: [1, 'a', null, { b: [] }] }, uniqueItems: true, minItems: 2 },
  { type: 'object', patternProperties: { '^[a-c]': { type: 'null' }, z$: { const: 1 } } },
  {
    type: 'object',
    properties: { a: { type: 'null' } },
    propertyNames: { maxLength: 3, pattern: '^[a-z"]*$' },
    additionalProperties: { type: 'boolean' },
  },
  { type: 'string', minLength: 3, maxLength: 9, pattern: String.raw`^[^a-z]*\\[\s\S]$` },
])('%j has valid values alone', async (schema) => {
  const values = await randomValues(schema);
  expect(values.length).toBeGreaterThan(NUM_TEXTS / 8);
  const validate = ajv.compile(schema);
  expect(values.filter((value) => !validate(value))).toEqual([]);
});

it('properties stand in the order of the schema’s text, also those named by numbers', async () => {
  const parsed = parseOrderedJson(
    '{"type": "object", "properties": {"z": {}, "10": {}, "9": {}}, "required": ["9", "10", "z"]}',
  );
  const schema = Object(parsed);
  const follow = async (text: string): Promise<boolean> =>
    accepts(model, await createShape(model, { type: 'json_schema', schema }), text);
  expect(await follow('{"z": 1, "10": 2, "9": 3}')).toBe(true);
  expect(await follow('{"9": 3, "10": 2, "z": 1}')).toBe(false);
});
