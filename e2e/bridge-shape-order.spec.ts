import type { ChatCompletion } from 'openai/resources/chat/completions';

import { TOOL_MODEL } from '../tools/hub-server/checkpoints/chat-checkpoint.ts';
import { expect, hello, test } from './support/chat-bridge-test.ts';
import { ANY_BACKEND } from './support/test.ts';

test.use({ chatModel: TOOL_MODEL });

const ASKED = { model: TOOL_MODEL, messages: [hello], temperature: 1.2, max_completion_tokens: 300, seed: 1 };

test(
  'an answer has its properties in the order of the schema’s text over HTTP, names of digits too',
  { tag: ANY_BACKEND },
  async ({ chat }) => {
    const names = ['z', '10', '9', 'a'];
    const properties = names.map((name) => `"${name}": {"type": "boolean"}`).join(', ');
    const schema = `{"type": "object", "properties": {${properties}}, "required": ${JSON.stringify(names)}}`;
    const body = JSON.stringify({ ...ASKED, response_format: 'FORMAT' }).replace(
      '"FORMAT"',
      `{"type": "json_schema", "json_schema": {"name": "ordered", "schema": ${schema}}}`,
    );
    const headers = { 'Content-Type': 'application/json' };
    const response = await fetch(`${chat.url}/v1/chat/completions`, { method: 'POST', headers, body });
    const completion: ChatCompletion = await response.json();
    const content = completion.choices[0]?.message.content ?? '';
    expect(Array.from(content.matchAll(/"(\w+)": /g), ([, name]) => name)).toEqual(names);
  },
);
