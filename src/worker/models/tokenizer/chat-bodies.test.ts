import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

import reference from '../../../../tools/reference/fixtures/chat-bodies-reference.json' with { type: 'json' };
import { toolsIn } from '../../../batching/options/tools.ts';
import { parseOrderedJson } from '../../../batching/base/ordered-json.ts';
import { readChatRequest } from '../../../protocol/openai/chat-request.ts';
import { readMessages } from '../../../protocol/read-messages.ts';
import { readChatTemplate } from './chat-template.ts';

const MODELS = new URL('../../../../tools/reference/chat-templates/models/', import.meta.url);
const readTools = toolsIn({ maxItems: 9, maxLength: 9999 });

function sourceOf(template: string): string {
  return template.startsWith('{%')
    ? template
    : readFileSync(new URL(`${template}.jinja`, MODELS), 'utf8').replace(/\n$/, '');
}

async function write(body: string, template: string): Promise<string | undefined> {
  const { prompts, options } = readChatRequest(parseOrderedJson(body));
  const chatTemplate = await readChatTemplate({ ...reference.tokens, chat_template: sourceOf(template) });
  const messages: readonly unknown[] = Array.isArray(prompts[0]) ? prompts[0] : [];
  return chatTemplate?.render(readMessages(messages), { tools: readTools('tools', options.tools ?? []) });
}

/** Rendered by huggingface/transformers from the same bodies: see tools/reference/chat-templates. */
describe.each(reference.templates)(
  'bodies of chats reach the template $template',
  ({ template, rendered }) => {
    const cases = reference.bodies.map((body, i) => ({ body, i, text: rendered[i]?.text }));

    it.each(cases.filter(({ text }) => text !== undefined))(
      'as the client wrote body $i',
      async ({ body, text }) => {
        expect(await write(body, template)).toBe(text);
      },
    );

    it.each(cases.filter(({ text }) => text === undefined))('which refuses body $i', async ({ body }) => {
      await expect(write(body, template)).rejects.toMatchObject({ code: 'CHAT_TEMPLATE_FAILED' });
    });
  },
);
