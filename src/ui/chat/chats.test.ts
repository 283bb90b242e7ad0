import { describe, expect, it } from 'vitest';

import {
  activeExchange,
  endOf,
  messagesFor,
  withEnd,
  withExchange,
  withNewChat,
  type Chat,
  type Exchange,
} from './chats.ts';
import { createRequest } from '../test-support.ts';

const DEFAULTS = { defaultSystemPrompt: 'Be brief.' };

function createExchange(id: string, answer = `answer ${id}`): Exchange {
  return { id, question: `question ${id}`, answer, end: { status: 'finished', numOutputTokens: 3 } };
}

function createChat(change: Partial<Chat> = {}): Chat {
  return {
    id: 'chat',
    ordinal: 1,
    exchanges: [createExchange('a'), createExchange('b'), createExchange('c')],
    ...change,
  };
}

describe('the messages of a question', () => {
  it('are the system prompt, all exchanges, and the question', () => {
    const chat = createChat({ exchanges: [createExchange('a')] });
    expect(messagesFor(chat, 'why?', DEFAULTS)).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'question a' },
      { role: 'assistant', content: 'answer a' },
      { role: 'user', content: 'why?' },
    ]);
  });

  it('begin with the chat’s own system prompt, or with none where it is empty', () => {
    const [first] = messagesFor(createChat({ systemPrompt: 'Sing.' }), 'why?', DEFAULTS);
    expect(first).toEqual({ role: 'system', content: 'Sing.' });
    expect(messagesFor(createChat({ exchanges: [] }), 'why?', { defaultSystemPrompt: ' ' })).toEqual([
      { role: 'user', content: 'why?' },
    ]);
  });

  it('in place of an exchange have what was before it', () => {
    const messages = messagesFor(createChat(), 'why?', { ...DEFAULTS, replacedId: 'b' });
    expect(messages.map(({ content }) => content)).toEqual(['Be brief.', 'question a', 'answer a', 'why?']);
  });

  it('leave out a question without an answer, so that roles alternate', () => {
    const chat = createChat({ exchanges: [createExchange('a', ''), createExchange('b')] });
    const roles = messagesFor(chat, 'why?', DEFAULTS).map(({ role }) => role);
    expect(roles).toEqual(['system', 'user', 'assistant', 'user']);
  });
});

describe('a question', () => {
  const asked = { id: 'new', question: 'why?', answer: '' };

  it('goes to the end', () => {
    const { exchanges } = withExchange(createChat(), asked);
    expect(exchanges.map(({ id }) => id)).toEqual(['a', 'b', 'c', 'new']);
  });

  it('in place of an exchange takes away what follows', () => {
    const { exchanges } = withExchange(createChat(), asked, 'b');
    expect(exchanges.map(({ id }) => id)).toEqual(['a', 'new']);
  });

  it('is active until its answer ends', () => {
    const chat = withExchange(createChat(), asked);
    expect(activeExchange(chat)).toBe(asked);
    const ended = withEnd(chat, 'new', 'because', { status: 'cancelled', numOutputTokens: 1 });
    expect(activeExchange(ended)).toBeUndefined();
    expect(ended.exchanges.at(-1)).toMatchObject({ answer: 'because', end: { status: 'cancelled' } });
  });
});

it('gives no new chat the number of one that is there', () => {
  const chats = withNewChat([createChat({ ordinal: 1 }), createChat({ ordinal: 3 })], 'd');
  expect(chats.at(-1)).toMatchObject({ id: 'd', ordinal: 4, exchanges: [] });
});

it('keeps of a request what the chat shows, and no text twice', () => {
  expect(endOf(createRequest('a', { numCachedTokens: 31, numPromptTokens: 52 }))).toEqual({
    status: 'finished',
    finishReason: 'length',
    numOutputTokens: 64,
    seed: 7,
    numCachedTokens: 31,
    numPromptTokens: 52,
  });
});
