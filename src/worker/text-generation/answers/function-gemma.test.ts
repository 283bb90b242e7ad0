import { describe, expect, it } from 'vitest';

import type { JsonRecord } from '../../../batching/base/validate-compound.ts';
import { accepts, createShape, loadShapedModel } from '../shapes/test-support.ts';
import { FunctionGemmaArguments, functionGemmaGrammar } from './function-gemma.ts';

const model = await loadShapedModel();

const PARAMETERS = {
  type: 'object',
  properties: {
    city: { type: 'string', description: 'Its name' },
    days: { type: 'integer' },
    units: { enum: ['C', 'F'] },
    at: { type: 'object', properties: { hour: { type: 'number' }, isLocal: { type: 'boolean' } } },
    tags: { type: 'array', items: { type: 'string' } },
  },
  required: ['city'],
};

async function fits(parameters: JsonRecord, text: string): Promise<boolean> {
  const grammar = functionGemmaGrammar(parameters, 'tools[0].parameters');
  return accepts(model, await createShape(model, { type: 'grammar', grammar }), text);
}

const read = (text: string): unknown => JSON.parse(new FunctionGemmaArguments().push(text).json);

describe('arguments in the form of FunctionGemma', () => {
  it.each([
    ['{city:<escape>Rome<escape>}', { city: 'Rome' }],
    ['{city:<escape>a "b" {c}, <d><escape>,days:-3}', { city: 'a "b" {c}, <d>', days: -3 }],
    ['{at:{hour:7.5,isLocal:true},city:<escape><escape>}', { at: { hour: 7.5, isLocal: true }, city: '' }],
    ['{city:<escape>Rome<escape>,tags:[]}', { city: 'Rome', tags: [] }],
    [
      '{city:<escape>Rome<escape>,tags:[<escape>a<escape>,<escape>b<escape>],units:<escape>F<escape>}',
      { city: 'Rome', tags: ['a', 'b'], units: 'F' },
    ],
  ])('%s fits, and is read as JSON', async (text, value) => {
    expect(await fits(PARAMETERS, text)).toBe(true);
    expect(read(text)).toEqual(value);
  });

  it.each([
    ['a required name that is missing', '{days:3}'],
    ['an unknown name', '{city:<escape>Rome<escape>,no:1}'],
    ['names out of order', '{days:3,city:<escape>Rome<escape>}'],
    ['a fraction for an integer', '{city:<escape>Rome<escape>,days:1.5}'],
    ['a value that is not listed', '{city:<escape>Rome<escape>,units:<escape>K<escape>}'],
    ['JSON', '{"city": "Rome"}'],
    ['a comma at the end', '{city:<escape>Rome<escape>,}'],
    ['an end without one', '{city:<escape>Rome<escape>'],
  ])('%s does not fit', async (_what, text) => {
    expect(await fits(PARAMETERS, text)).toBe(false);
  });

  it('a tool without parameters takes none', async () => {
    expect(await fits({}, '{}')).toBe(true);
    expect(await fits({}, '{a:1}')).toBe(false);
  });

  it.each([
    [
      { type: 'object', properties: { a: { type: 'string', minLength: 1 } } },
      'tools[0].parameters.properties.a.minLength',
    ],
    [{ type: 'object', properties: { a: { anyOf: [] } } }, 'tools[0].parameters.properties.a.anyOf'],
    [
      { type: 'object', properties: { a: { type: 'array', items: {} } } },
      'tools[0].parameters.properties.a.items.type',
    ],
  ])('%j has a keyword that is refused by name', (parameters, param) => {
    expect(() => functionGemmaGrammar(parameters, 'tools[0].parameters')).toThrow(
      expect.objectContaining({ code: 'RESPONSE_FORMAT_UNSUPPORTED', param }),
    );
  });
});
