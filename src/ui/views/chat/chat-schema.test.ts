import * as v from 'valibot';
import { expect, it } from 'vitest';

import { changeSchema, chatSchema } from './chat-schema.ts';
import { createChat, type Chat } from './chats.ts';

const CHAT: Chat = {
  ...createChat({ systemPrompt: 'Be brief.', texts: { seed: '7' } }),
  exchanges: [
    {
      id: 'e',
      question: 'Why?',
      askedAtMs: 1,
      answers: [{ text: 'Be' }, { text: 'Because', end: { status: 'finished', numOutputTokens: 1 } }],
      shown: 1,
    },
  ],
};

it('a chat is read as it was stored, and a change as it was sent', () => {
  expect(v.parse(chatSchema, structuredClone(CHAT))).toEqual(CHAT);
  for (const change of [{ type: 'changed', chat: CHAT }, { type: 'removed', id: 'c' }, { type: 'opened' }])
    expect(v.parse(changeSchema, change)).toEqual(change);
});

it.each([
  ['a chat without its times', { ...CHAT, changedAtMs: undefined }],
  ['an exchange without an answer', { ...CHAT, exchanges: [{ ...CHAT.exchanges[0], answers: [] }] }],
  [
    'an end that says nothing',
    { ...CHAT, exchanges: [{ ...CHAT.exchanges[0], answers: [{ text: '', end: {} }] }] },
  ],
])('%s of another version is not read', (_, chat) => {
  expect(v.is(chatSchema, chat)).toBe(false);
  expect(v.is(changeSchema, { type: 'changed', chat })).toBe(false);
});

it('a kind of change that this version does not know is not read', () => {
  expect(v.is(changeSchema, { type: 'pinned', id: 'c' })).toBe(false);
});
