import { describe, expect, it, onTestFinished, vi } from 'vitest';

import {
  activeExchange,
  createChat as createBlankChat,
  endOf,
  isBlank,
  mergeChat,
  messagesFor,
  titleOf,
  withEnd,
  withExchange,
  withVersion,
  type Chat,
  type Exchange,
} from './chats.ts';
import { createRequest, idOf } from '../../testing/test-support.ts';

it('a chat has an ID of its own on a page over plain http, too', () => {
  onTestFinished(() => void vi.unstubAllGlobals());
  const getRandomValues = crypto.getRandomValues.bind(crypto);
  vi.stubGlobal('crypto', { getRandomValues });
  expect(createBlankChat().id).not.toBe(createBlankChat().id);
});

const DEFAULTS = { defaultSystemPrompt: 'Be brief.' };
const FINISHED = { status: 'finished', numOutputTokens: 3 } as const;

function createExchange(id: string, text = `answer ${id}`): Exchange {
  const answers = [{ text, end: FINISHED }] as const;
  return { id, question: `question ${id}`, askedAtMs: 0, answers, shown: 0 };
}

function createChat(change: Partial<Chat> = {}): Chat {
  const exchanges = [createExchange('a'), createExchange('b'), createExchange('c')];
  return { id: 'chat', changedAtMs: 1, exchanges, ...change };
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
  const answers = [{ text: '', requestId: idOf('r1') }] as const;
  const asked = { id: 'new', question: 'why?', askedAtMs: 0, answers, shown: 0 };

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
    expect(ended.exchanges.at(-1)).toMatchObject({
      answers: [{ text: 'because', end: { status: 'cancelled' } }],
    });
  });
});

describe('a version of an answer', () => {
  const again = { text: '', requestId: idOf('r2') };

  it('is shown beside those before, and takes away what follows', () => {
    const chat = withVersion(createChat(), createExchange('b'), again);
    expect(chat.exchanges.map(({ id }) => id)).toEqual(['a', 'b']);
    expect(chat.exchanges[1]).toMatchObject({ answers: [{ text: 'answer b' }, again], shown: 1 });
  });

  it('replaces one without text', () => {
    const chat = withVersion(createChat(), createExchange('c', ''), again);
    expect(chat.exchanges.at(-1)).toMatchObject({ answers: [again], shown: 0 });
  });

  it('that is in view is the one that the next question goes on from', () => {
    const { exchanges } = withVersion(createChat({ exchanges: [createExchange('a')] }), createExchange('a'), {
      text: 'another',
      end: FINISHED,
    });
    const contents = [0, 1].map((shown) => {
      const chat = createChat({ exchanges: exchanges.map((exchange) => ({ ...exchange, shown })) });
      return messagesFor(chat, 'why?', DEFAULTS)[2]?.content;
    });
    expect(contents).toEqual(['answer a', 'another']);
  });

  it('that has ended takes no end of a request that was taken back', () => {
    const chat = createChat();
    expect(withEnd(chat, 'c', 'late', FINISHED)).toEqual(chat);
  });
});

const asking = (question: string): Chat => createChat({ exchanges: [{ ...createExchange('a'), question }] });

describe('the title of a chat', () => {
  it.each([
    ['Why is the sky blue?', 'Why is the sky blue?'],
    ['  Why\nis  it? ', 'Why is it?'],
    ['one two three four five six seven eight nine', 'one two three four five six seven eight…'],
    ['a'.repeat(50), `${'a'.repeat(40)}…`],
  ])('is the first words of %j', (question, title) => {
    expect(titleOf(asking(question))).toBe(title);
  });

  it('is what the user calls it', () => {
    expect(titleOf({ ...asking('Why?'), title: 'The sky' })).toBe('The sky');
    expect(titleOf({ ...asking('Why?'), title: ' ' })).toBe('Why?');
  });
});

it('is blank until something was said, or it has a name', () => {
  const blank = createChat({ exchanges: [], systemPrompt: 'Sing.' });
  expect([blank, { ...blank, title: 'Songs' }, createChat()].map(isBlank)).toEqual([true, false, false]);
});

describe('a chat that two tabs change', () => {
  const mine = createChat({ changedAtMs: 5 });
  const theirs = createChat({ changedAtMs: 6, title: 'Theirs', exchanges: [] });

  it('is as the later change left it, whichever tab hears of it first', () => {
    expect(mergeChat(mine, theirs, false)).toBe(theirs);
    expect(mergeChat(theirs, mine, false)).toBe(theirs);
    expect(mergeChat(undefined, theirs, false)).toBe(theirs);
  });

  it('keeps the messages of the tab that writes an answer, and takes over the rest', () => {
    expect(mergeChat(mine, theirs, true)).toEqual({ ...theirs, exchanges: mine.exchanges });
  });
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
