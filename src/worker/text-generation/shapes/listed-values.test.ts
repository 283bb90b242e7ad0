import { Ajv2020 } from 'ajv/dist/2020.js';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { ResponseFormatUnsupportedError } from '../../../batching/base/errors.ts';
import { responseFormatIn } from '../../../batching/options/response-format.ts';
import { parseOrderedJson } from '../../../batching/base/ordered-json.ts';
import { createRandom, RandomChoices } from '../../testing/random-choices.ts';
import { allowedBy, canWrite, createShape, loadShapedModel } from './test-support.ts';
import { runsOf } from '../../../batching/testing/whole-run.ts';

const model = await loadShapedModel();
const [end = -1] = model.config.eosTokenIds;
const ajv = new Ajv2020({ strict: false });
const MAX_TOKENS = 80;

const read = responseFormatIn({ maxLength: 10_000 });
/** As it comes over HTTP. */
const shapeOf = (schema: string) =>
  createShape(model, read('responseFormat', { type: 'json_schema', schema: parseOrderedJson(schema) }));

/** A text of allowed tokens; undefined for a schema that is refused, or a text that goes on. */
async function textBy(schema: object, seed: number): Promise<string | undefined> {
  const choices = new RandomChoices(createRandom(seed));
  try {
    const shape = await createShape(model, { type: 'json_schema', schema: { ...schema } });
    const tokenIds: number[] = [];
    while (tokenIds.length < MAX_TOKENS) {
      const tokenId = choices.one(allowedBy(shape, model));
      if (tokenId !== end) tokenIds.push(tokenId);
      if (tokenId === end || (await shape.accept(tokenId)))
        return model.tokenizer.vocabulary.decode(tokenIds);
    }
    return undefined;
  } catch (error) {
    if (error instanceof ResponseFormatUnsupportedError) return undefined;
    throw error;
  }
}

const VALUES = [1, 30, true, false, null, 'a', 'z', [], { a: 1, b: 2 }, { b: 2, a: 1 }];
const values = fc.uniqueArray(fc.constantFrom(...VALUES), { minLength: 1, maxLength: 4 });
const optional = <Value>(arbitrary: fc.Arbitrary<Value>) => fc.option(arbitrary, { nil: undefined, freq: 2 });
const item = fc
  .record(
    {
      enum: values,
      const: fc.constantFrom(...VALUES),
      type: fc.constantFrom('boolean', 'string', 'integer', 'object'),
      maximum: fc.constant(5),
      not: fc.constant({ const: 30 }),
      $ref: fc.constantFrom('#/$defs/some', '#/$defs/flag'),
      description: fc.constant('x'),
    },
    { requiredKeys: [] },
  )
  .filter((schema) => Object.keys(schema).length < 4);
const listSchema = fc.record({
  type: fc.constant('array'),
  uniqueItems: fc.constant(true),
  prefixItems: optional(fc.array(item, { minLength: 1, maxLength: 2 })),
  items: fc.oneof(item, fc.constant(false)),
  minItems: optional(fc.nat(3)),
  maxItems: optional(fc.integer({ min: 2, max: 4 })),
  $defs: fc.constant({ some: { enum: [1, 'a', null] }, flag: { type: 'boolean' } }),
});
const plain = fc.oneof(
  fc.record({ enum: values }),
  fc.record({ const: fc.constantFrom(...VALUES) }),
  fc.constant({ type: 'boolean' }),
);
const kind = fc.record({
  type: fc.constantFrom('object', ['object', 'boolean'], ['object', 'null']),
  properties: fc.record({ k: plain }),
  required: fc.constant(['k']),
  additionalProperties: fc.constant(false),
});
const choiceSchema = fc
  .oneof(fc.tuple(plain, plain), fc.tuple(kind, kind), fc.tuple(item, item))
  .map((oneOf) => ({ oneOf, $defs: { some: { enum: [1, 'a', null] }, flag: { type: 'boolean' } } }));

it.each([
  ['lists of unique items', listSchema, 100],
  ['schemas of which one fits', choiceSchema, 100],
] as const)(
  '%s have only texts that ajv finds valid',
  async (_, schemas, least) => {
    let numWritten = 0;
    await fc.assert(
      fc.asyncProperty(schemas, fc.nat(), async (drawn, seed) => {
        const schema: object = JSON.parse(JSON.stringify(drawn));
        const text = await textBy(schema, seed);
        if (text === undefined) return;
        numWritten += 1;
        expect(ajv.validate(schema, JSON.parse(text)), `${text} by ${JSON.stringify(schema)}`).toBe(true);
      }),
      { numRuns: runsOf({ whole: 10_000, part: 1000 }) },
    );
    expect(numWritten).toBeGreaterThan(least);
  },
  120_000,
);

describe('unique items', () => {
  it.each([
    ['{"prefixItems": [{"const": "z"}], "items": {"enum": ["a", "b"]}}', '["z", "b"]', '["b", "a"]'],
    ['{"prefixItems": [{"const": "z"}], "items": {"enum": ["a", "z"]}}', '["z", "a"]', '["z", "z"]'],
    ['{"prefixItems": [{"const": "z"}, {"type": "boolean"}], "items": false}', '["z", true]', '[true]'],
    ['{"items": {"type": "boolean", "enum": [true]}}', '[true]', '[false, true]'],
    ['{"items": {"enum": [{"a": 1, "b": 2}, {"b": 2, "a": 1}]}}', '[{"a": 1, "b": 2}]', '[{"b": 2, "a": 1}]'],
    ['{"items": {"enum": [1, 1.0, 2]}}', '[1, 2]', '[1, 1.0]'],
  ])('of %s: %s, and not %s', async (keywords, text, other) => {
    const schema = `{"type": "array", "uniqueItems": true, ${keywords.slice(1)}`;
    expect(await canWrite(model, await shapeOf(schema), text)).toBe(true);
    expect(await canWrite(model, await shapeOf(schema), other)).toBe(false);
  });

  it.each([
    ['{"type": "boolean", "const": true}', 'minItems'],
    ['{"type": "string", "enum": [1, 2]}', 'another type'],
    ['{"enum": [1, 30], "maximum": 5}', 'maximum'],
    ['{"enum": [1, 30], "not": {"const": 30}}', 'not'],
    ['{"$ref": "#/$defs/some", "maximum": 5}', 'maximum'],
  ])('of %s are refused by name: %s', async (items, name) => {
    const schema = `{"type": "array", "uniqueItems": true, "minItems": 2, "items": ${items}, "$defs": {"some": {"enum": [1, 30]}}}`;
    await expect(shapeOf(schema)).rejects.toMatchObject({
      code: 'RESPONSE_FORMAT_UNSUPPORTED',
      message: expect.stringContaining(name),
    });
  });
});

const NAMED =
  '"$defs": {"Color": {"enum": ["red"]}, "Size": {"enum": ["s"]}, "Both": {"anyOf": [{"$ref": "#/$defs/Color"}, {"$ref": "#/$defs/Size"}]}}';

it.each([
  '"anyOf": [{"$ref": "#/$defs/Color"}, {"$ref": "#/$defs/Size"}]',
  '"$ref": "#/$defs/Both"',
  '"allOf": [{"$ref": "#/$defs/Both"}]',
])('names are those that references at any depth lead to: %s', async (names) => {
  const schema = `{"type": "object", "propertyNames": {${names}}, "additionalProperties": {"type": "integer"}, "required": ["red"], ${NAMED}}`;
  expect(await canWrite(model, await shapeOf(schema), '{"red": 1, "s": 2}')).toBe(true);
  expect(await canWrite(model, await shapeOf(schema), '{"red": 1, "x": 2}')).toBe(false);
});

it('names of references without an end are refused', async () => {
  const schema =
    '{"type": "object", "propertyNames": {"$ref": "#/$defs/a"}, "$defs": {"a": {"anyOf": [{"$ref": "#/$defs/a"}]}}}';
  await expect(shapeOf(schema)).rejects.toMatchObject({
    message: expect.stringContaining('list the names in one enum'),
  });
});

it('a schema with an address of its own is refused where it refers to something', async () => {
  const inner =
    '"$id": "https://example.com/x", "type": "object", "properties": {"y": {"$ref": "#/$defs/b"}}';
  const schema = `{"type": "object", "properties": {"x": {${inner}}}, "$defs": {"b": {"type": "string"}}}`;
  await expect(shapeOf(schema)).rejects.toMatchObject({ message: expect.stringContaining('$id') });
});

it('names of a reference are refused beside another keyword', async () => {
  const schema =
    '{"type": "object", "propertyNames": {"$ref": "#/$defs/a", "maxLength": 1}, "$defs": {"a": {"enum": ["a", "bb"]}}}';
  await expect(shapeOf(schema)).rejects.toMatchObject({ code: 'RESPONSE_FORMAT_UNSUPPORTED' });
});

describe('numbers', () => {
  it.each([
    ['{"type": "integer", "multipleOf": 0}', 'is not a number above 0: write one'],
    ['{"type": "number", "multipleOf": -2}', 'is not a number above 0: write one'],
    ['{"type": "number", "multipleOf": 0.12345678}', 'use fewer digits'],
    ['{"type": "integer", "minimum": 2.5}', 'is not an integer of at most 15 digits: write one'],
    ['{"type": "number", "minimum": "5"}', 'decimals: write one'],
  ])('that can’t be enforced are refused with a remedy that helps: %s', async (schema, message) => {
    await expect(shapeOf(schema)).rejects.toMatchObject({ message: expect.stringContaining(message) });
  });

  it.each([Infinity, -Infinity, NaN])('of a page that JSON has no text for are refused: %s', (number) => {
    for (const schema of [{ const: number }, { enum: [{ a: [number] }] }])
      expect(() => read('responseFormat', { type: 'json_schema', schema })).toThrow(/NaN or Infinity/);
  });

  it.each(['1413617112501850121', '9007199254740993', '-0.1000000000000000055', '2.0', '1e3'])(
    'of a const, an enum, and values inside them are written as the schema spells them: %s',
    async (spelling) => {
      for (const [schema, text] of [
        [`{"const": ${spelling}}`, spelling],
        [`{"enum": ["a", ${spelling}]}`, spelling],
        [`{"const": {"a": [${spelling}]}}`, `{"a": [${spelling}]}`],
        [`{"type": "array", "uniqueItems": true, "items": {"enum": [${spelling}, 7]}}`, `[7, ${spelling}]`],
      ] as const)
        expect([schema, await canWrite(model, await shapeOf(schema), text)]).toEqual([schema, true]);
    },
  );

  it('that differ only in what JavaScript can’t hold are two shapes', async () => {
    await shapeOf('{"const": 9007199254740992}');
    expect(await canWrite(model, await shapeOf('{"const": 9007199254740993}'), '9007199254740993')).toBe(
      true,
    );
  });

  it.each(['{"const": 1e400}', '{"enum": [1, -1e400]}', '{"const": {"a": [1e400]}}'])(
    'are refused where JavaScript has none: %s',
    async (schema) => {
      await expect(shapeOf(schema)).rejects.toMatchObject({
        code: 'RESPONSE_FORMAT_UNSUPPORTED',
        message: expect.stringContaining('1e400'),
      });
    },
  );
});
