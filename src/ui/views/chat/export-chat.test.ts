import { expect, it } from 'vitest';

import type { Chat } from './chats.ts';
import { chatAsMarkdown, fileNameOf } from './export-chat.ts';

const ASKED_AT = '2026-01-02T03:04:05.000Z';

const CHAT: Chat = {
  id: 'chat',
  systemPrompt: 'Sing.\nLoudly.',
  changedAtMs: 1,
  exchanges: [
    {
      id: 'a',
      question: 'Why?',
      askedAtMs: Date.parse(ASKED_AT),
      answers: [{ text: 'first' }, { text: '- second' }],
      shown: 1,
    },
  ],
};

it('writes the answers in view as a document', () => {
  expect(chatAsMarkdown(CHAT)).toBe(
    `# Why?\n\n> System: Sing.\n> Loudly.\n\n**You** (${ASKED_AT})\n\nWhy?\n\n**Answer**\n\n- second\n`,
  );
});

it.each([
  ['Why is the sky blue?', 'Why-is-the-sky-blue'],
  ['../å/日本', 'å-日本'],
  ['???', 'chat'],
])('names the file of “%s” %s', (title, name) => {
  expect(fileNameOf({ ...CHAT, title })).toBe(name);
});
