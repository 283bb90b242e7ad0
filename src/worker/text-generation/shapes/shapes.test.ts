import { describe, expect, it, vi } from 'vitest';
import type { JsonSchema, ResponseFormat } from '../../../batching/options/response-format.ts';
import { accepts, allowedBy, canWrite, createShape, loadShapedModel } from './test-support.ts';

const model = await loadShapedModel(5);

const OPEN_SCHEMA = schemaOf({
  type: 'object',
  properties: { age: { type: 'integer' }, été: { type: 'null' } },
  additionalProperties: {
    type: ['object', 'array', 'string', 'integer'],
    items: { type: 'string' },
    properties: { age: { type: 'integer' } },
    additionalProperties: true,
  },
});

function openBeside(key: string): ResponseFormat {
  return schemaOf({
    type: 'object',
    properties: { [key]: { type: 'null' } },
    additionalProperties: { type: 'integer' },
  });
}

describe('a shape', () => {
  it.each<readonly [ResponseFormat, string, string]>([
    [{ type: 'choice', choices: ['positive', 'negative "x"'] }, 'negative "x"', 'neutral'],
    [{ type: 'regex', pattern: '^[a-c]+-\\d{2,3}$' }, 'abc-123', 'abc-1'],
    [{ type: 'regex', pattern: String.raw`a.*\.[.]` }, 'a b..', 'a\nb..'],
    [{ type: 'grammar', grammar: 'root ::= "a" root "b" | ""' }, 'aabb', 'aab'],
    [{ type: 'grammar', grammar: String.raw`root ::= "[é]" [\\uvU] | [ux8]` }, '[é]u', '[é]é'],
    [{ type: 'json_object' }, '{"a": [1, null, {"b": "c"}]}', '[1]'],
    [
      {
        type: 'json_schema',
        schema: { type: 'object', properties: { age: { type: 'integer' } }, required: ['age'] },
      },
      '{"age": 12}',
      '{"age": "12"}',
    ],
    [schemaOf({ type: 'number', minimum: 0, maximum: 5 }), '4.25', '5.25'],
    [schemaOf({ type: 'number', exclusiveMaximum: -1.5 }), '-1.500001', '-1.5'],
    [schemaOf({ type: 'array', items: { type: 'number', minimum: -1.87 } }), '[0.0, 10]', '[00.0, 10]'],
    [{ type: 'regex', pattern: '[a-z]*[a-z]cd' }, 'abcd', 'cd'],
    [openBeside('k'.repeat(300)), `{"kk": 1}`, `{"${'k'.repeat(300)}": 1}`],
    [{ type: 'grammar', grammar: 'root ::= nothing | "ac"\nnothing ::= "ab"' }, 'ac', 'aa'],
    [OPEN_SCHEMA, '{"age": 5, "agent": "x", "ag": 1}', '{"age": "x"}'],
    [OPEN_SCHEMA, '{"a": [], "ab c": {"age": 1}}', '{"a": [], "age": 1}'],
    [schemaOf({ type: ['number', 'null'], minimum: 0.1 }), '123.4', '0.09'],
    [schemaOf({ type: 'string', minLength: 2, maxLength: 3 }), '"abc"', '"abcd"'],
    [schemaOf({ type: 'string', minLength: 2, pattern: '^[ab]*$' }), '"ab"', '"a"'],
    [schemaOf({ type: 'string', pattern: '^[^a-z]{1,3}$' }), String.raw`"\"\\\n"`, String.raw`"\R;"`],
    [schemaOf({ type: 'string', pattern: '^(?!no)[a-z]+$' }), '"on"', '"not"'],
    [schemaOf({ type: 'integer', multipleOf: 7, minimum: 50 }), '56', '49'],
    [schemaOf({ type: 'number', multipleOf: 0.01, maximum: 0.5 }), '0.25', '0.255'],
    [schemaOf({ type: 'string', format: 'date' }), '"2024-02-29"', '"2023-02-29"'],
    [schemaOf({ type: 'object', properties: { 'a"b': { const: 1 } } }), String.raw`{"a\"b": 1}`, '{"a": 1}'],
    [schemaOf({ type: 'array', items: [{ type: 'null' }], additionalItems: false }), '[null]', '[null, 1]'],
    [
      schemaOf({
        type: 'object',
        propertyNames: { pattern: '^[a-c]+$' },
        additionalProperties: { const: 1 },
      }),
      '{"ab": 1}',
      '{"ad": 1}',
    ],
    [
      schemaOf({
        type: 'object',
        patternProperties: { '^n': { type: 'integer' } },
        additionalProperties: true,
      }),
      '{"n1": 1, "a": ""}',
      '{"n1": "1"}',
    ],
    [schemaOf({ type: 'array', items: { enum: ['a', 'b'] }, uniqueItems: true }), '["b", "a"]', '["b", "b"]'],
    [schemaOf({ type: 'string', format: 'uri', maxLength: 2083 }), '"https://a.example/b?c=d"', '"https//a"'],
    [schemaOf({ type: 'string', format: 'path' }), '"/a b"', '1'],
    [schemaOf({ type: 'integer', format: 'int64' }), '-7', '1.5'],
    [schemaOf({ type: 'integer', format: 'int32' }), '2147483647', '2147483648'],
    [schemaOf({ type: 'number', maximum: 3.4e38 }), '999999999.5', '1e39'],
    [schemaOf({ type: 'string', pattern: '^(?!^[-+.]*$)[+-]?0*\\d*\\.?\\d*$' }), '"-0.50"', '"-."'],
    [schemaOf({ type: 'string', pattern: '^(^a|b)?$' }), '"a"', '"^a"'],
    [
      schemaOf({
        type: 'object',
        propertyNames: { enum: ['a', 'b'] },
        additionalProperties: { type: 'null' },
      }),
      '{"a": null, "b": null}',
      '{"a": null, "a": null}',
    ],
    [schemaOf({ type: 'string', format: 'ulid', pattern: '^[0-7]{2}$' }), '"07"', '"08"'],
    [schemaOf({ type: 'string', pattern: '@' }), '"a@b"', '"ab"'],
    [{ type: 'grammar', grammar: 'root ::= root "+" [a-z] | "x"' }, 'x+a+b', 'a+x'],
    [{ type: 'regex', pattern: 'a[\u4E00-\u9FA5]+' }, 'a\u4E2D\u56FD', 'a\u3042'],
    [schemaOf({ type: 'string', minLength: 2 }), '"ab"', '"a"'],
    [schemaOf({ type: 'string', maxLength: 100_000 }), `"${'a b'.repeat(2000)}"`, `"${'a b'.repeat(2000)}`],
    [schemaOf({ type: ['string', 'integer'], maxLength: 2, minimum: 5 }), '"ab"', '"abc"'],
    [schemaOf({ type: ['string', 'integer'], maxLength: 2, minimum: 5 }), '5', '4'],
    [schemaOf({ type: 'array', items: { type: 'string', minLength: 1 } }), '["a", ", "]', '["a", ""]'],
    [schemaOf({ type: ['number', 'null'], minimum: 0.1 }), 'null', '-1'],
    [callsWith({ type: 'integer' }), 'So <call>7</call> then', 'So <call>x</call> then'],
    [
      callsWith({ type: 'string', maxLength: 3 }),
      'So "as they say" <call>"abc"</call> and then',
      'So "as they say" <call>"abcd"</call> and then',
    ],
    [
      {
        type: 'structural_tag',
        format: {
          type: 'sequence',
          elements: [
            { type: 'tag', begin: '', content: { type: 'any_text' }, end: '</think>' },
            { type: 'json_schema', json_schema: { enum: ['yes', 'no'] } },
          ],
        },
      },
      'hm</think>"yes"',
      'hm</think>maybe',
    ],
  ])('%j accepts %j and refuses %j', async (format, right, wrong) => {
    expect(await accepts(model, await createShape(model, format), right)).toBe(true);
    expect(await accepts(model, await createShape(model, format), wrong)).toBe(false);
  });

  it.each<readonly [ResponseFormat, string, string, string]>([
    [{ type: 'regex', pattern: '^Greetings and .*' }, 'Greetings', ' and so on', ' or not'],
    [
      {
        type: 'json_schema',
        schema: { type: 'object', properties: { age: { type: 'integer' } }, required: ['age'] },
      },
      '{"age": 1',
      '2}',
      '"}',
    ],
    [{ type: 'grammar', grammar: 'root ::= "é" [abc]' }, 'é', 'b', 'é'],
    [{ type: 'json_object' }, '{"a, b": [1, 2', ', 3]}', ',3]}'],
    [{ type: 'json_object' }, '{"a":', ' 1}', '1}'],
    [schemaOf({ type: 'string', maxLength: 6 }), '"a b', 'c d"', 'c de"'],
  ])('%j that begins with %j goes on with %j, not with %j', async (format, prefix, right, wrong) => {
    const begun = { ...format, prefix };
    expect(await accepts(model, await createShape(model, begun), right)).toBe(true);
    expect(await accepts(model, await createShape(model, begun), wrong)).toBe(false);
    expect(await accepts(model, await createShape(model, format), prefix + right), 'without a prefix').toBe(
      true,
    );
  });

  it.each(['{ "a , b" :1,"c":\n', '{"a , b": 1, "c": '])(
    'goes on from JSON with white space as in %j',
    async (prefix) => {
      const shape = await createShape(model, { type: 'json_object', prefix });
      expect(await accepts(model, shape, '2}')).toBe(true);
    },
  );

  it.each<readonly [ResponseFormat, prefix: string]>([
    [{ type: 'regex', pattern: 'yes|no' }, 'maybe'],
    [schemaOf({ type: 'array', items: { type: 'string', minLength: 3 } }), '["abc", "de", '],
    [schemaOf({ type: 'string', maxLength: 3 }), '"abcd'],
  ])('refuses a prefix that begins none of its texts: %j, %j', async (shape, prefix) => {
    const format = { ...shape, prefix };
    await expect(createShape(model, format)).rejects.toMatchObject({
      code: 'RESPONSE_FORMAT_UNSUPPORTED',
      param: 'responseFormat.prefix',
    });
  });

  it('never allows a special token or a row of padding, and the end token where the text may end', async () => {
    const anything = await createShape(model, { type: 'regex', pattern: '[^x]*' });
    const allowed = new Set(allowedBy(anything, model));
    expect(allowed.size).toBeGreaterThan(1000);
    for (let padding = 0; padding < 5; padding += 1)
      expect(allowed).not.toContain(model.config.vocabSize - 1 - padding);
    expect(allowed).toContain(model.config.eosTokenIds[0]);
  });
});

describe('characters that take several tokens', () => {
  const choices = [
    'é',
    'è',
    '\u{1F44D}',
    '\u{1F44E} no',
    '\u{1F44E} not',
    'a\u{1F600}',
    'a\u{1F601}',
    'plain',
  ];

  it('are written in choices, also where two part inside one', async () => {
    const written = choices.map(async (text) =>
      canWrite(model, await createShape(model, { type: 'choice', choices }), text),
    );
    expect(await Promise.all(written)).toEqual(choices.map(() => true));
    expect(await canWrite(model, await createShape(model, { type: 'choice', choices }), 'a\u{1F602}')).toBe(
      false,
    );
  });

  it('are written in the fixed text of a schema', async () => {
    const shape = await createShape(model, schemaOf({ enum: ['a\u{1F600}', 'b\u{1F601}'] }));
    expect(await canWrite(model, shape, '"b\u{1F601}"')).toBe(true);
  });

  it('are written in a set of characters', async () => {
    const text = 'a\u{1F600}\u{10FFFF}';
    expect(await canWrite(model, await createShape(model, { type: 'regex', pattern: '[^x]*' }), text)).toBe(
      true,
    );
    expect(await canWrite(model, await createShape(model, schemaOf({ type: 'string' })), `"${text}"`)).toBe(
      true,
    );
  });

  it('are not begun there with a vocabulary that could not end them, since it lacks the token of a byte', async () => {
    const poor = await loadShapedModel();
    const { vocabulary } = poor.tokenizer;
    const bytesOf = vocabulary.bytesOf.bind(vocabulary);
    vi.spyOn(vocabulary, 'bytesOf').mockImplementation((tokenId) =>
      bytesOf(tokenId)?.at(-1) === 0x81 ? undefined : bytesOf(tokenId),
    );
    const shape = await createShape(poor, { type: 'regex', pattern: '[^x]*' });
    const allowed = allowedBy(shape, poor).map((tokenId) => vocabulary.decode([tokenId]));
    expect(allowed.length).toBeGreaterThan(1000);
    expect(allowed.filter((text) => text.includes('\u{FFFD}'))).toEqual([]);
  });
});

describe('refuses', () => {
  it.each<readonly [string, ResponseFormat, string, string]>([
    [
      'a keyword that no grammar enforces',
      schemaOf({ type: 'array', contains: {} }),
      'schema.contains',
      'leave it out',
    ],
    [
      'one in the depth',
      schemaOf({ type: 'object', properties: { a: { not: {} } } }),
      'schema.properties.a.not',
      'leave it',
    ],
    ['one without its type', schemaOf({ minimum: 3 }), 'schema.minimum', 'name the type'],
    [
      'one beside a reference',
      schemaOf({ $ref: '#/$defs/a', minimum: 1, $defs: { a: true } }),
      'schema.minimum',
      'branch',
    ],
    ['a reference to nothing', schemaOf({ $ref: '#/$defs/a' }), 'schema.$ref', "doesn't resolve"],
    [
      'branches that overlap',
      schemaOf({ oneOf: [{ type: 'integer' }, { type: 'number' }] }),
      'schema.oneOf',
      'anyOf',
    ],
    [
      'two schemas that know different properties',
      schemaOf({ allOf: [{ type: 'integer' }, { type: 'integer' }] }),
      'schema.allOf',
      'merge',
    ],
    ['a schema without a value', schemaOf(false), 'schema', 'allows no value'],
    [
      'bounds without a number between',
      schemaOf({ type: 'integer', exclusiveMinimum: 3, maximum: 3 }),
      'schema',
      'no number',
    ],
    [
      'an object that holds itself',
      schemaOf({ type: 'object', properties: { a: { $ref: '#' } }, required: ['a'] }),
      'schema',
      'never end',
    ],
    [
      'a required name without a schema',
      schemaOf({ type: 'object', required: ['a'] }),
      'schema.required',
      'properties lack',
    ],
    [
      'a bound of an integer',
      schemaOf({ type: 'integer', minimum: 0.5 }),
      'schema.minimum',
      'not an integer',
    ],
    ['a length below 0', schemaOf({ type: 'string', maxLength: -1 }), 'schema.maxLength', 'not a count'],
    ['a long bound', schemaOf({ type: 'number', maximum: 0.1234567 }), 'schema.maximum', '6 decimals'],
    ['a large bound', schemaOf({ type: 'number', minimum: 1e9 }), 'schema.minimum', '9 digits'],
    [
      'a number too long to be written',
      schemaOf({ type: 'integer', minimum: 2 ** 53 - 1 }),
      'schema',
      'more than 15 digits',
    ],
    [
      'a format that validators check',
      schemaOf({ type: 'string', format: 'iri' }),
      'schema.format',
      'leave it out, or use date',
    ],
    [
      'names that are no strings',
      schemaOf({ type: 'object', propertyNames: { enum: [1] } }),
      'schema.propertyNames',
      'allow no string',
    ],
    ['a pattern that looks back', { type: 'regex', pattern: '(?<=a)b' }, 'pattern', 'looks around'],
    ['a pattern without a text', { type: 'regex', pattern: '(?=a)b' }, 'pattern', 'no text'],
    ['a pattern with an anchor in what repeats', { type: 'regex', pattern: '(^a|b)*' }, 'pattern', 'anchor'],
    ['a pattern with an anchor inside', { type: 'regex', pattern: 'a$b|c' }, 'pattern', 'anchor'],
    ['a pattern that explodes', { type: 'regex', pattern: '((a{50}){50}){50}' }, 'pattern', '1000 times'],
    ['a pattern with a large count', { type: 'regex', pattern: 'a[bc]{10001,}' }, 'pattern', '10000'],
    ['a grammar with one', { type: 'grammar', grammar: 'root ::= "a"{0, 10001}' }, 'grammar', '10000'],
    ['a broken pattern', { type: 'regex', pattern: '(a' }, 'pattern', 'Unterminated group'],
    [
      'a broken grammar, with the place',
      { type: 'grammar', grammar: 'root ::= "a' },
      'grammar',
      'line 1, column 12',
    ],
    ['a grammar without a word', { type: 'grammar', grammar: 'root ::= "a" root' }, 'grammar', 'never end'],
    [
      'a grammar with an endless part',
      { type: 'grammar', grammar: 'root ::= "x" | "a" b\nb ::= "b" b' },
      'grammar',
      '(b)',
    ],
    [
      'a grammar that explodes',
      { type: 'grammar', grammar: 'root ::= (("a"{99}){99}){99}' },
      'grammar',
      'counts',
    ],
    [
      'a part of another type',
      {
        type: 'structural_tag',
        format: { type: 'sequence', elements: [{ type: 'regex', pattern: '\\bx' }] },
      },
      'format.elements[0].pattern',
      'word boundary',
    ],
  ])('%s', async (_, format, part, text) => {
    await expect(createShape(model, format)).rejects.toMatchObject({
      code: 'RESPONSE_FORMAT_UNSUPPORTED',
      param: `responseFormat.${part}`,
      message: expect.stringContaining(text),
    });
  });

  it('a choice that the vocabulary has no tokens for', async () => {
    const poor = await loadShapedModel();
    const { vocabulary } = poor.tokenizer;
    const bytesOf = vocabulary.bytesOf.bind(vocabulary);
    vi.spyOn(vocabulary, 'bytesOf').mockImplementation((tokenId) =>
      bytesOf(tokenId)?.includes('q'.charCodeAt(0)) ? undefined : bytesOf(tokenId),
    );
    const create = (choice: string) => createShape(poor, { type: 'choice', choices: [choice] });
    await expect(create('quiet')).rejects.toMatchObject({
      code: 'RESPONSE_FORMAT_UNSUPPORTED',
      param: 'responseFormat',
      message: expect.stringContaining('vocabulary'),
    });
    expect(await accepts(poor, await create('calm'), 'calm')).toBe(true);
  });

  it('nothing that comes after a refusal', async () => {
    await expect(createShape(model, { type: 'grammar', grammar: 'root ::= ' })).rejects.toThrow('compiled');
    expect(await accepts(model, await createShape(model, { type: 'choice', choices: ['a'] }), 'a')).toBe(
      true,
    );
  });
});

/** Free text with calls of one argument. */
function callsWith(argument: JsonSchema): ResponseFormat {
  const content = { type: 'json_schema', json_schema: argument } as const;
  const tags = [{ type: 'tag', begin: '<call>', content, end: '</call>' }] as const;
  return { type: 'structural_tag', format: { type: 'triggered_tags', triggers: ['<call>'], tags } };
}

function schemaOf(schema: JsonSchema): ResponseFormat {
  return { type: 'json_schema', schema };
}
