import { describe, expect, it } from 'vitest';
import { responseFormatIn } from './response-format.ts';

const check = responseFormatIn({ maxLength: 200 });

describe('responseFormatIn', () => {
  it.each([
    { type: 'json_schema', schema: { type: 'object' }, name: 'weather' },
    { type: 'json_schema', schema: true },
    { type: 'json_object' },
    { type: 'choice', choices: ['yes', 'no'] },
    { type: 'regex', pattern: '[0-9]+' },
    { type: 'grammar', grammar: 'root ::= "a"' },
    { type: 'structural_tag', format: { type: 'any_text' } },
  ])('takes $type', (format) => {
    expect(check('responseFormat', format)).toEqual(format);
  });

  it.each([
    ['json', 'responseFormat', 'one of json_schema, json_object'],
    [{ type: 'toString' }, 'responseFormat', 'type toString'],
    [{ type: 'json_schema' }, 'responseFormat.schema', 'a JSON Schema'],
    [{ type: 'json_schema', schema: {}, name: 1 }, 'responseFormat.name', 'a string'],
    [{ type: 'json_object', prefix: 1 }, 'responseFormat.prefix', 'a string'],
    [{ type: 'choice', choices: ['a'], prefix: 'a' }, 'responseFormat.prefix', 'type, choices'],
    [{ type: 'choice', choices: [] }, 'responseFormat.choices', '1 to 256'],
    [{ type: 'choice', choices: ['a', 'a'] }, 'responseFormat.choices', 'different'],
    [{ type: 'choice', choices: ['\u{d83d}'] }, 'responseFormat.choices', 'half a character'],
    [{ type: 'regex', pattern: '' }, 'responseFormat.pattern', 'not empty'],
    [{ type: 'grammar', grammar: 'x'.repeat(200) }, 'responseFormat', '200 characters'],
    [{ type: 'choice', choice: ['a'] }, 'responseFormat.choice', 'type, choices'],
  ])('refuses %j by the name of the part', (format, param, text) => {
    expect(() => check('responseFormat', format)).toThrow(
      expect.objectContaining({ param, message: expect.stringContaining(text) }),
    );
  });

  it('refuses more levels than can be cloned and compiled', () => {
    const deep = Array.from({ length: 2000 }).reduce<object>((anyOf) => ({ anyOf: [anyOf] }), {});
    const format = { type: 'json_schema', schema: deep };
    expect(() => responseFormatIn({ maxLength: 65_536 })('responseFormat', format)).toThrow('200 levels');
  });
});
