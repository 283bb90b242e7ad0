import { expect, it } from 'vitest';

import type { ResponseFormat } from '../../../batching/generation/response-format.ts';
import { answerFormatOf, type AskedAnswer } from './answer-format.ts';
import { toolSyntaxOf } from './tool-syntax.ts';

const QWEN = toolSyntaxOf('{{ tools }} <tool_call>');
const LLAMA = toolSyntaxOf('{{ tools }} {"name": function name, "parameters": ');
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
const plain = { thinking: 'never', tools: QWEN } as const;

it('leaves text without tools or a shape free, and a shape as it is', () => {
  expect(answerFormatOf(asked({}), undefined)).toBeUndefined();
  expect(answerFormatOf(asked({}), { thinking: 'optional', tools: undefined })).toBeUndefined();
  expect(answerFormatOf(asked({ responseFormat: CHOICE }), undefined)).toBe(CHOICE);
});

it('lets a model call tools in free text, each call by its own schema', () => {
  expect(answerFormatOf(asked({ tools: TOOLS }), plain)).toMatchObject({
    format: {
      type: 'triggered_tags',
      triggers: ['<tool_call>'],
      tags: [WEATHER, {}],
      stop_after_first: false,
    },
  });
  expect(answerFormatOf(asked({ tools: TOOLS, parallelToolCalls: false }), plain)).toMatchObject({
    format: { stop_after_first: true },
  });
});

it('takes one call alone where the template takes one in a message', () => {
  const syntax = { thinking: 'never', tools: LLAMA } as const;
  expect(answerFormatOf(asked({ tools: TOOLS }), syntax)).toMatchObject({
    format: { stop_after_first: true },
  });
});

it('demands calls, or the one that is named', () => {
  expect(answerFormatOf(asked({ tools: TOOLS, toolChoice: 'required' }), plain)).toMatchObject({
    format: { type: 'tags_with_separator', separator: '\n', at_least_one: true, stop_after_first: false },
  });
  expect(answerFormatOf(asked({ tools: TOOLS, toolChoice: { name: 'weather' } }), plain)).toEqual({
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

it('takes a call or the shape where both are asked for', () => {
  const both = answerFormatOf(asked({ tools: [TOOLS[0] ?? { name: '' }], responseFormat: CHOICE }), plain);
  expect(both).toEqual({ type: 'structural_tag', format: { type: 'or', elements: [WEATHER, CHOICE_PART] } });
});

it.each([
  [
    'optional',
    { type: 'or', elements: [{ elements: [{ begin: '<think>', end: '</think>' }, { value: '\n\n' }] }, {}] },
  ],
  ['begun', { type: 'sequence', elements: [{ begin: '', end: '</think>' }, { value: '\n\n' }] }],
] as const)('begins a shape behind the thinking that is %s', (thinking, first) => {
  const format = answerFormatOf(asked({ responseFormat: CHOICE }), { thinking, tools: undefined });
  expect(format).toMatchObject({ format: { type: 'sequence', elements: [first, CHOICE_PART] } });
});
