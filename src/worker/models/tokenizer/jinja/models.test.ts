import { readFileSync } from 'node:fs';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';

import reference from '../../../../../tools/reference/fixtures/template-models-reference.json' with { type: 'json' };
import { parseOrderedJson } from '../../../../batching/base/ordered-json.ts';
import { isRecord } from '../../../../platform/is-record.ts';
import { Template } from './template.ts';

const TEMPLATES = new URL('../../../../../tools/reference/chat-templates/models/', import.meta.url);

const outcome = v.object({ text: v.optional(v.string()), error: v.optional(v.string()) });
const models = v.parse(v.array(v.object({ name: v.string(), rendered: v.array(outcome) })), reference.models);

/** huggingface/transformers gives every template the reasoning by two names. */
function withReasoning(message: unknown): unknown {
  const reasoning = isRecord(message) ? message['reasoning_content'] : undefined;
  return isRecord(message) && reasoning !== undefined ? { thinking: reasoning, ...message } : message;
}

const chats = reference.chats.map((json) => {
  const chat = parseOrderedJson(json);
  if (!isRecord(chat) || !Array.isArray(chat['messages'])) throw new Error('not a chat');
  return {
    add_generation_prompt: true,
    tools: null,
    documents: null,
    ...reference.tokens,
    ...chat,
    messages: chat['messages'].map(withReasoning),
  };
});

/** Rendered by huggingface/transformers: see tools/reference/chat-templates. */
describe.each(models)('the template of $name', ({ name, rendered }) => {
  const template = new Template(readFileSync(new URL(`${name}.jinja`, TEMPLATES), 'utf8').replace(/\n$/, ''));
  const cases = rendered.map((given, i) => ({ ...given, i, chat: chats[i] ?? {} }));

  it.each(cases.filter(({ text }) => text !== undefined))('writes chat $i', ({ text, chat }) => {
    expect(template.render(chat)).toBe(text);
  });

  it.each(cases.filter(({ error }) => error !== undefined))('refuses chat $i', ({ error = '', chat }) => {
    const message = error.startsWith('TemplateError: ') ? error.slice('TemplateError: '.length) : '';
    expect(() => template.render(chat)).toThrow(
      expect.objectContaining({ name: 'TemplateError', message: expect.stringContaining(message) }),
    );
  });
});
