import { expect, it } from 'vitest';

import { readChat, withChat } from './chat-link.ts';
import { createChat, type Chat, type Exchange } from './chats.ts';

const PAGE = 'http://localhost:8000/?view=chat';
const SHARED = { systemPrompt: 'Be brief.', texts: { topP: '0.9', temperature: '0.1' } };
const end = { status: 'finished', numOutputTokens: 3, seed: 7 } as const;
const exchange: Exchange = {
  id: 'e',
  question: 'Why? 🦊 #&',
  askedAtMs: 1,
  answers: [
    { text: 'Old.', end },
    { text: 'New.', end, shape: 'json_object' },
  ],
  shown: 1,
};

const shared = (chat: Chat): ReturnType<typeof readChat> =>
  readChat(new URL(withChat(PAGE, chat, SHARED, 'm')).hash);

it('a link brings a chat back as a new one, with the answers in view and the settings that were in force', () => {
  const chat = { ...createChat({ texts: { temperature: '0.7' } }), title: 'Why', exchanges: [exchange] };
  const read = shared(chat);
  expect(read).toMatchObject({
    title: 'Why',
    systemPrompt: 'Be brief.',
    texts: { topP: '0.9', temperature: '0.7' },
    exchanges: [{ question: 'Why? 🦊 #&', answers: [{ text: 'New.', end, shape: 'json_object' }], shown: 0 }],
  });
  expect(read).not.toHaveProperty('id', chat.id);
});

it('a link has no answer that is still written', () => {
  const open: Exchange = { ...exchange, answers: [{ text: 'Beg' }], shown: 0 };
  expect(shared({ ...createChat(), exchanges: [exchange, open] })).toMatchObject({
    exchanges: [{ id: 'e' }],
  });
});

it.each(['', '{"id":1}', '{"id":"a","exch'])('a link that was cut says so: %s', (chat) => {
  expect(readChat(`#${new URLSearchParams({ chat }).toString()}`)).toMatchObject({ code: 'LINK_BROKEN' });
  expect(readChat('#prompt=x')).toBeUndefined();
});
