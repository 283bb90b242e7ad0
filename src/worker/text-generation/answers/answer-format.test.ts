import { expect, it } from 'vitest';

import { ResponseFormatUnsupportedError } from '../../../batching/base/errors.ts';
import type { ResponseFormat } from '../../../batching/options/response-format.ts';
import { answerFormatOf, inAskedOptions, type AskedAnswer } from './answer-format.ts';
import { toolSyntaxOf } from './tool-syntax.ts';

const ofTemplate = (template: string) => toolSyntaxOf(`{{ tools }} ${template}`, () => false);
const QWEN = ofTemplate('<tool_call>');
const LLAMA = ofTemplate('{"name": function name, "parameters": ');
const MISTRAL = ofTemplate('[TOOL_CALLS] [');
const MINISTRAL = ofTemplate('[TOOL_CALLS] [ARGS]');
const SCHEMA = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const TOOLS = [{ name: 'weather', parameters: SCHEMA }, { name: 'time' }];
const WEATHER = {
  type: 'tag',
  begin: '<tool_call>\n{"name": "weather", "arguments": ',
  content: { type: 'json_schema', json_schema: SCHEMA },
  end: '}\n</tool_call>',
};
const CHOICE: ResponseFormat = { type: 'choice', choices: ['yes', 'no'] };
const CHOICE_PART = {
  type: 'or',
  elements: [
    { type: 'const_string', value: 'yes' },
    { type: 'const_string', value: 'no' },
  ],
};

const asked = (given: Partial<AskedAnswer>): AskedAnswer => ({
  responseFormat: undefined,
  tools: [],
  toolChoice: 'auto',
  parallelToolCalls: true,
  ...given,
});
const formatOf = (...given: Parameters<typeof answerFormatOf>) => answerFormatOf(...given)?.format;
const plain = { thinking: 'never', tools: QWEN } as const;

it('leaves text without tools or a shape free, and a shape as it is', () => {
  expect(formatOf(asked({}), undefined)).toBeUndefined();
  expect(formatOf(asked({}), { thinking: 'optional', tools: undefined })).toBeUndefined();
  expect(formatOf(asked({ responseFormat: CHOICE }), undefined)).toBe(CHOICE);
});

it('lets a model call tools in free text, each call by its own schema', () => {
  expect(formatOf(asked({ tools: TOOLS }), plain)).toMatchObject({
    format: {
      type: 'triggered_tags',
      triggers: ['<tool_call>'],
      tags: [WEATHER, {}],
      stop_after_first: false,
    },
  });
  expect(formatOf(asked({ tools: TOOLS, parallelToolCalls: false }), plain)).toMatchObject({
    format: { stop_after_first: true },
  });
});

it('takes one call alone where the template takes one in a message', () => {
  const syntax = { thinking: 'never', tools: LLAMA } as const;
  expect(formatOf(asked({ tools: TOOLS }), syntax)).toMatchObject({
    format: { stop_after_first: true },
  });
});

it('demands calls, or the one that is named', () => {
  expect(formatOf(asked({ tools: TOOLS, toolChoice: 'required' }), plain)).toMatchObject({
    format: { type: 'tags_with_separator', separator: '\n', at_least_one: true, stop_after_first: false },
  });
  expect(formatOf(asked({ tools: TOOLS, toolChoice: { name: 'weather' } }), plain)).toEqual({
    type: 'structural_tag',
    format: {
      type: 'tags_with_separator',
      tags: [WEATHER],
      separator: '\n',
      at_least_one: true,
      stop_after_first: true,
    },
  });
});

it('puts the calls of one list between its marks', () => {
  const syntax = { thinking: 'never', tools: MISTRAL } as const;
  const tags = [
    {
      type: 'tag',
      begin: '{"name": "weather", "arguments": ',
      content: { type: 'json_schema', json_schema: SCHEMA },
      end: '}',
    },
  ];
  const content = { type: 'tags_with_separator', separator: ', ', at_least_one: true, tags };
  const list = { type: 'tag', begin: '[TOOL_CALLS] [', content, end: ']' };
  const [tool = { name: '' }] = TOOLS;
  expect(formatOf(asked({ tools: [tool] }), syntax)).toMatchObject({
    format: { type: 'triggered_tags', triggers: ['[TOOL_CALLS]'], tags: [list], stop_after_first: false },
  });
  expect(
    formatOf(asked({ tools: [tool], toolChoice: 'required', parallelToolCalls: false }), syntax),
  ).toMatchObject({
    format: { type: 'or', elements: [{ ...list, content: { ...content, stop_after_first: true } }] },
  });
});

it('lets a model think about calls whose marks do not end its thoughts', () => {
  const marks = { begin: '[THINK]', end: '[/THINK]', after: '' };
  const syntax = { thinking: 'optional', marks, tools: MINISTRAL } as const;
  expect(formatOf(asked({ tools: TOOLS }), syntax)).toMatchObject({
    format: {
      type: 'sequence',
      elements: [
        { type: 'or', elements: [{ elements: [{ begin: '[THINK]', end: '[/THINK]' }, { value: '' }] }, {}] },
        { type: 'triggered_tags', triggers: ['[TOOL_CALLS]'] },
      ],
    },
  });
});

it('takes a call or the shape where both are asked for', () => {
  const both = formatOf(asked({ tools: [TOOLS[0] ?? { name: '' }], responseFormat: CHOICE }), plain);
  expect(both).toEqual({ type: 'structural_tag', format: { type: 'or', elements: [WEATHER, CHOICE_PART] } });
});

it.each([
  [
    'optional',
    { type: 'or', elements: [{ elements: [{ begin: '<think>', end: '</think>' }, { value: '\n\n' }] }, {}] },
  ],
  ['begun', { type: 'sequence', elements: [{ begin: '', end: '</think>' }, { value: '\n\n' }] }],
] as const)('begins a shape behind the thinking that is %s', (thinking, first) => {
  const format = formatOf(asked({ responseFormat: CHOICE }), { thinking, tools: undefined });
  expect(format).toMatchObject({ format: { type: 'sequence', elements: [first, CHOICE_PART] } });
});

const SHAPED = { responseFormat: { type: 'json_schema', schema: SCHEMA } } as const;
const THINKS = { thinking: 'begun', tools: undefined } as const;
const TAG = { type: 'structural_tag', format: { type: 'json_schema', json_schema: SCHEMA } } as const;

it.each([
  [
    { tools: TOOLS },
    plain,
    'format.tags[1].content.json_schema.properties.a',
    'tools[1].parameters.properties.a',
  ],
  [
    { tools: TOOLS, toolChoice: { name: 'time' } },
    plain,
    'format.tags[0].content.json_schema',
    'tools[1].parameters',
  ],
  [{ tools: TOOLS, ...SHAPED }, plain, 'format.elements[2].json_schema.items', 'responseFormat.schema.items'],
  [
    SHAPED,
    THINKS,
    'format.elements[1].json_schema.properties.format',
    'responseFormat.schema.properties.format',
  ],
  [
    { responseFormat: TAG },
    THINKS,
    'format.elements[1].json_schema.items',
    'responseFormat.format.json_schema.items',
  ],
  [
    { responseFormat: { type: 'regex', pattern: '(' } },
    THINKS,
    'format.elements[1].pattern',
    'responseFormat.pattern',
  ],
  [SHAPED, undefined, 'schema.items', 'responseFormat.schema.items'],
] as const)('names the option of %j with %j in an error about %s', (given, syntax, place, option) => {
  const answer = answerFormatOf(asked(given), syntax);
  if (!answer) throw new Error('no format');
  const error = ResponseFormatUnsupportedError.of(`responseFormat.${place}`, 'is odd', 'leave it out');
  expect(inAskedOptions(error, answer)).toMatchObject({
    param: option,
    message: `\`${option}\` is odd: leave it out.`,
  });
});
