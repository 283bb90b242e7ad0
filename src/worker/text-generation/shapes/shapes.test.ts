import { describe, expect, it, vi } from 'vitest';
import type { JsonSchema, ResponseFormat } from '../../../batching/generation/response-format.ts';
import { loadGrammarLibrary } from './grammar-library.ts';
import { ShapeGrammars } from './shape-grammar.ts';
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

it('lengths of strings are enforced whatever the size of the vocabulary', async () => {
  const grammars = new ShapeGrammars(await loadGrammarLibrary(), 152_000);
  const format = schemaOf({ type: 'array', items: { type: 'string', minLength: 5, maxLength: 5000 } });
  const { grammar, lengths } = await grammars.create(format);
  grammar.dispose();
  expect(lengths).toEqual([{ min: 5, max: 5000 }]);
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

  it('are not begun in a set of characters, which small vocabularies could not end', async () => {
    const shape = await createShape(model, { type: 'regex', pattern: '[^x]*' });
    const allowed = allowedBy(shape, model).map((tokenId) => model.tokenizer.vocabulary.decode([tokenId]));
    expect(allowed.filter((text) => text.includes('\u{FFFD}'))).toEqual([]);
  });
});

describe('refuses', () => {
  it.each<readonly [string, ResponseFormat, string, string]>([
    [
      'a keyword that no grammar enforces',
      schemaOf({ type: 'number', multipleOf: 3 }),
      'schema.multipleOf',
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
    ['a reference to nothing', schemaOf({ $ref: '#/$defs/a' }), 'schema.$ref', 'leads to no part'],
    [
      'branches that overlap',
      schemaOf({ oneOf: [{ type: 'integer' }, { type: 'number' }] }),
      'schema.oneOf',
      'anyOf',
    ],
    ['two schemas at once', schemaOf({ allOf: [{ type: 'integer' }, true] }), 'schema.allOf', 'merge'],
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
    ['a bound of an integer', schemaOf({ type: 'integer', minimum: 0.5 }), 'schema.minimum', 'no integer'],
    ['a length below 0', schemaOf({ type: 'string', maxLength: -1 }), 'schema.maxLength', 'no count'],
    ['too many items', schemaOf({ type: 'array', maxItems: 1e6 }), 'schema.maxItems', 'is above'],
    ['a long bound', schemaOf({ type: 'number', maximum: 0.1234567 }), 'schema.maximum', '6 decimals'],
    ['a large bound', schemaOf({ type: 'number', maximum: 1e9 }), 'schema.maximum', '9 digits'],
    [
      'a name that would break the grammar',
      schemaOf({ type: 'object', properties: { 'a"b': true } }),
      'schema.properties.a"b',
      'quote',
    ],
    [
      'patterns too long for this vocabulary',
      schemaOf({
        anyOf: Array.from({ length: 20 }, (_, last) => ({
          type: 'string',
          pattern: `^[a-z]{0,128}${last}$`,
        })),
      }),
      'schema',
      'smaller counts',
    ],
    ['a pattern that looks around', { type: 'regex', pattern: '(?=a)b' }, 'pattern', 'looks around'],
    ['a pattern with an anchor inside', { type: 'regex', pattern: 'a|b$|c' }, 'pattern', 'anchor'],
    ['a pattern that explodes', { type: 'regex', pattern: '((a{50}){50}){50}' }, 'pattern', '1000 times'],
    ['a pattern with a large count', { type: 'regex', pattern: 'a[bc]{129,}' }, 'pattern', '128'],
    ['a grammar with one', { type: 'grammar', grammar: 'root ::= "a"{0, 129}' }, 'grammar', '128'],
    ['a set beyond ASCII', { type: 'regex', pattern: 'a[\u4E00-\u9FA5]+' }, 'pattern', 'beyond ASCII'],
    ['one of a grammar', { type: 'grammar', grammar: 'root ::= [^é]' }, 'grammar', 'beyond ASCII'],
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

  it('strings of more lengths than there are marks', async () => {
    await createShape(model, schemaOf(stringsOfLengths(63)));
    await expect(createShape(model, schemaOf(stringsOfLengths(64)))).rejects.toMatchObject({
      code: 'RESPONSE_FORMAT_UNSUPPORTED',
      param: 'responseFormat',
      message: expect.stringContaining('63 different lengths'),
    });
  });

  it('alternatives whose strings have no length in common, once one of them begins', async () => {
    const shape = await createShape(
      model,
      schemaOf({ anyOf: [2, 4].map((length) => ({ type: 'string', minLength: length, maxLength: length })) }),
    );
    const [quote = -1] = model.tokenizer.encode('"', false);
    await expect(shape.accept(quote)).rejects.toMatchObject({
      code: 'RESPONSE_FORMAT_UNSUPPORTED',
      message: expect.stringContaining('no length in common'),
    });
  });

  it('nothing that comes after a refusal', async () => {
    await expect(createShape(model, { type: 'grammar', grammar: 'root ::= ' })).rejects.toThrow('compiled');
    expect(await accepts(model, await createShape(model, { type: 'choice', choices: ['a'] }), 'a')).toBe(
      true,
    );
  });
});

function stringsOfLengths(count: number): JsonSchema {
  const prefixItems = Array.from({ length: count }, (_, minLength) => ({ type: 'string', minLength }));
  return { type: 'array', prefixItems };
}

/** Free text with calls of one argument. */
function callsWith(argument: JsonSchema): ResponseFormat {
  const content = { type: 'json_schema', json_schema: argument } as const;
  const tags = [{ type: 'tag', begin: '<call>', content, end: '</call>' }] as const;
  return { type: 'structural_tag', format: { type: 'triggered_tags', triggers: ['<call>'], tags } };
}

function schemaOf(schema: JsonSchema): ResponseFormat {
  return { type: 'json_schema', schema };
}
