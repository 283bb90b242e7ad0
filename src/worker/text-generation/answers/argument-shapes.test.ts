import { describe, expect, it } from 'vitest';

import type { GenerationTool } from '../../../batching/options/tools.ts';
import { joinParts } from '../../../protocol/answers.ts';
import { accepts, createShape, loadShapedModel } from '../shapes/test-support.ts';
import { answerFormatOf, inAskedOptions } from './answer-format.ts';
import { AnswerParser } from './answer-parser.ts';
import { FAMILIES, syntaxOf } from './test-support.ts';

const model = await loadShapedModel();

const BOOK: GenerationTool = {
  name: 'book',
  parameters: {
    type: 'object',
    title: 'Book',
    properties: {
      note: { type: 'string', description: 'Free' },
      nights: { type: 'integer', minimum: 1 },
      quiet: { type: 'boolean', default: false },
      view: { enum: ['sea', 'hills'] },
      limit: { anyOf: [{ type: 'number' }, { type: 'null' }] },
      rooms: { $ref: '#/$defs/rooms' },
    },
    required: ['note', 'nights'],
    $defs: { rooms: { type: 'array', items: { $ref: '#/$defs/room' } }, room: { type: 'integer' } },
  },
};

function syntaxNamed(family: string) {
  const found = FAMILIES.find((each) => each.family === family);
  if (!found) throw new Error(`no ${family}`);
  return { thinking: 'never', tools: syntaxOf(found) } as const;
}

function formatOf(family: string, tools: readonly GenerationTool[], toolChoice: 'auto' | 'required') {
  const asked = { responseFormat: undefined, tools, toolChoice, parallelToolCalls: true };
  const answer = answerFormatOf(asked, syntaxNamed(family));
  if (!answer) throw new Error('no shape');
  return answer;
}

async function fits(family: string, tool: GenerationTool, text: string): Promise<boolean> {
  return accepts(model, await createShape(model, formatOf(family, [tool], 'required').format), text);
}

function read(family: string, text: string): unknown {
  const parser = new AnswerParser({ syntax: syntaxNamed(family), tools: [BOOK], idOf: String });
  const { toolCalls } = joinParts([...parser.push(text), ...parser.end()]);
  return toolCalls.map((call) => JSON.parse(call.arguments));
}

const xml = (...values: readonly (readonly [string, string])[]): string => {
  const parameters = values.map(([name, value]) => `<parameter=${name}>\n${value}\n</parameter>\n`);
  return `<tool_call>\n<function=book>\n${parameters.join('')}</function>\n</tool_call>`;
};
const python = (text: string): string => `<|tool_call_start|>[book(${text})]<|tool_call_end|>`;
const NOTE = ['note', 'a "b"\n<c>'] as const;

describe('arguments in tags', () => {
  it.each([
    [xml(NOTE, ['nights', '2']), { note: 'a "b"\n<c>', nights: 2 }],
    [xml(['note', ''], ['nights', '2'], ['quiet', 'true']), { note: '', nights: 2, quiet: true }],
    [
      xml(NOTE, ['nights', '2'], ['view', 'sea'], ['limit', 'null'], ['rooms', '[1, 2]']),
      { note: 'a "b"\n<c>', nights: 2, view: 'sea', limit: null, rooms: [1, 2] },
    ],
  ])('%s fits, and is read as JSON', async (text, input) => {
    expect(await fits('Qwen 3.5', BOOK, text)).toBe(true);
    expect(read('Qwen 3.5', text)).toEqual([input]);
  });

  it.each([
    ['a required one that is missing', xml(NOTE)],
    ['a number that is too small', xml(NOTE, ['nights', '0'])],
    ['a text for a number', xml(NOTE, ['nights', 'two'])],
    ['a value that is not listed', xml(NOTE, ['nights', '2'], ['view', 'street'])],
    ['an unknown one', xml(NOTE, ['nights', '2'], ['age', '3'])],
    ['a wrong item of a list', xml(NOTE, ['nights', '2'], ['rooms', '["a"]'])],
  ])('%s does not fit', async (_what, text) => {
    expect(await fits('Qwen 3.5', BOOK, text)).toBe(false);
  });

  it('a call without its opening has the same shape', async () => {
    const shape = () => createShape(model, formatOf('Qwen 3.5', [BOOK], 'auto').format);
    const bare = xml(NOTE, ['nights', '2']).replace('<tool_call>\n', '');
    expect(await accepts(model, await shape(), `Well. ${bare} So.`)).toBe(true);
    expect(await accepts(model, await shape(), `Well. ${bare.replace('\n2\n', '\nx\n')}`)).toBe(false);
  });

  it.each([
    ['city', { type: 'string', minLength: 2 }, 'properties.city.minLength'],
    [
      'city',
      { anyOf: [{ type: 'string', pattern: 'a' }, { type: 'null' }] },
      'properties.city.anyOf[0].pattern',
    ],
  ])('a text without quotes can not have %s: %j', (name, schema, place) => {
    const tool = { name: 'f', parameters: { type: 'object', properties: { [name]: schema } } };
    expect(() => formatOf('Qwen 3.5', [tool], 'auto')).toThrow(
      expect.objectContaining({ code: 'RESPONSE_FORMAT_UNSUPPORTED', param: `tools[0].parameters.${place}` }),
    );
  });
});

describe('arguments in Python', () => {
  it.each([
    [python('note="a \\"b\\"", nights=2'), { note: 'a "b"', nights: 2 }],
    [python('note="", nights=2, quiet=True'), { note: '', nights: 2, quiet: true }],
    [
      python('note="", nights=2, view="sea", limit=None, rooms=[1, 2]'),
      { note: '', nights: 2, view: 'sea', limit: null, rooms: [1, 2] },
    ],
  ])('%s fits, and is read as JSON', async (text, input) => {
    expect(await fits('LFM2', BOOK, text)).toBe(true);
    expect(read('LFM2', text)).toEqual([input]);
  });

  it.each([
    ['a required one that is missing', python('note=""')],
    ['a number that is too small', python('note="", nights=0')],
    ['a word of JSON', python('note="", nights=2, quiet=true')],
    ['a value that is not listed', python('note="", nights=2, view="street"')],
    ['a comma too much', python('note="", nights=2, ')],
  ])('%s does not fit', async (_what, text) => {
    expect(await fits('LFM2', BOOK, text)).toBe(false);
  });

  it.each(['', 'a=1', 'b=2', 'a=1, b=2'])('optional ones may be left out: %s', async (text) => {
    const properties = { a: { type: 'integer' }, b: { type: 'integer' } };
    const tool = { name: 'book', parameters: { type: 'object', properties } };
    expect(await fits('LFM2', tool, python(text))).toBe(true);
    expect(await fits('LFM2', tool, python(`${text}, c=1`))).toBe(false);
  });

  it('a text has the keywords of its schema', async () => {
    const properties = { city: { type: 'string', minLength: 2 } };
    const tool = { name: 'book', parameters: { type: 'object', properties } };
    expect(await fits('LFM2', tool, python('city="ab"'))).toBe(true);
    expect(await fits('LFM2', tool, python('city="a"'))).toBe(false);
  });
});

it.each([
  ['Qwen 3.5', 'tools[0].parameters.properties.n.not'],
  ['LFM2', 'tools[0].parameters.properties.n.not'],
])('a keyword that can not be enforced is named in the form of %s', async (family, param) => {
  const properties = { n: { type: 'integer', not: { const: 3 } } };
  const answer = formatOf(family, [{ name: 'f', parameters: { type: 'object', properties } }], 'auto');
  const error: unknown = await createShape(model, answer.format).catch((reason: unknown) => reason);
  expect(inAskedOptions(error, answer)).toMatchObject({ code: 'RESPONSE_FORMAT_UNSUPPORTED', param });
});

it.each([
  [{ allOf: [] }, 'tools[0].parameters.allOf'],
  [{ required: ['a'] }, 'tools[0].parameters.required'],
])('a schema of arguments that is no list of them is refused: %j', (schema, param) => {
  const tool = { name: 'f', parameters: { type: 'object', ...schema } };
  expect(() => formatOf('LFM2', [tool], 'auto')).toThrow(expect.objectContaining({ param }));
});
