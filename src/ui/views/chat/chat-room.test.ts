import { describe, expect, it } from 'vitest';

import {
  TEXT_GENERATOR,
  type ChatMessage,
  type ClientUpdate,
  type GenerationChoice,
  type RequestId,
  type TabserveClient,
} from '../../../client/index.ts';
import { applyEvents, createServeStore } from '../../state/serve-store.ts';
import { createStatus, idOf, MODEL, OTHER_TAB } from '../../testing/test-support.ts';
import { ChatRoom } from './chat-room.ts';
import type { ChatPlace, SavedChats } from './chat-place.ts';
import type { ChatChange, SharedOptions, TabState } from './chat-schema.ts';
import { shownAnswer, titleOf, type Chat } from './chats.ts';
import { ALL, questionOf } from './room-view.ts';

const READY = createStatus({ model: MODEL });

/** What the tabs of one browser share. */
function createBrowser() {
  const stored = new Map<string, Chat>();
  const listeners: ((change: ChatChange) => void)[] = [];
  let options: SharedOptions | undefined;
  const openPlace = (tab?: TabState) => {
    const written: { tab: TabState | undefined } = { tab };
    let own: ((change: ChatChange) => void) | undefined;
    const place: ChatPlace = {
      read: () => Promise.resolve(saved()),
      write: (chat) => Promise.resolve(void stored.set(chat.id, chat)),
      remove: (id) => Promise.resolve(void stored.delete(id)),
      writeTab: (next) => {
        written.tab = next;
      },
      writeOptions: (next) => {
        options = next;
      },
      tell: (change) => {
        for (const listener of listeners) if (listener !== own) listener(structuredClone(change));
      },
      listen: (listener) => {
        own = listener;
        listeners.push(listener);
      },
    };
    const saved = (): SavedChats => ({ chats: structuredClone([...stored.values()]), tab, options });
    return { place, saved, written };
  };
  return { stored, openPlace };
}

type Browser = ReturnType<typeof createBrowser>;

/** A tab whose requests are NAME1, NAME2, …; `receive` plays the updates that the client gets. */
function openTab(
  browser: Browser = createBrowser(),
  { name = 'r', tab }: { name?: string; tab?: TabState } = {},
) {
  const store = createServeStore(READY);
  const asked: { messages: readonly ChatMessage[]; options: object }[] = [];
  const cancelled: RequestId[] = [];
  const receive = (...updates: ClientUpdate[]): void =>
    applyEvents(store, [{ type: 'requests', updates, receivedAtMs: 0 }]);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all that the room calls
  const serve = {
    getHandle: () => ({
      remote: (input: readonly ChatMessage[], options: object) => {
        asked.push({ messages: input, options });
        const requestId = idOf(`${name}${asked.length}`);
        receive({ type: 'submitted', requestId, deployment: TEXT_GENERATOR, input });
        return { requestId };
      },
    }),
    cancel: (requestId: RequestId) => {
      cancelled.push(requestId);
      receive({ type: 'failed', requestId, error: { code: 'REQUEST_CANCELLED', message: 'stopped' } });
    },
    tokenizeChat: () => Promise.resolve({ tokenIds: [1, 2] }),
    tokenize: (text: string) => Promise.resolve({ tokenIds: Array.from(text, () => 3) }),
  } as unknown as TabserveClient;
  const { place, saved, written } = browser.openPlace(tab);
  const room = new ChatRoom(serve, store, place, saved());
  const columns = () => room.store.getState().columns;
  const chat = (index = 0): Chat | undefined => room.list.get(columns()[index] ?? '');
  const texts = (): readonly string[] | undefined =>
    chat()?.exchanges.map((exchange) => shownAnswer(exchange).text);
  const answer = (requestId: string, text: string): void => {
    receive({ type: 'chunk', requestId: idOf(requestId), index: 0, text, tokenIds: [1] });
  };
  const finish = (requestId: string, text: string, more: Partial<GenerationChoice> = {}): void => {
    const choice = {
      text: '',
      generatedText: text,
      tokenIds: [1],
      finishReason: 'stop',
      seed: 7,
      ...more,
    } as const;
    const usage = { numPromptTokens: 9, numCachedTokens: 4, numOutputTokens: 2 };
    const timings = { queueWaitMs: 0, ttftMs: 1, e2eMs: 2, tpotMs: 1 };
    const result = { ...choice, choices: [choice], usage, timings };
    receive({ type: 'finished', requestId: idOf(requestId), result });
  };
  const firstId = columns()[0] ?? '';
  return { room, store, asked, cancelled, written, columns, chat, texts, receive, answer, finish, firstId };
}

it('offers three chats that answer the same question under different system prompts', () => {
  const { room, asked } = openTab();
  expect(room.store.getState().drafts[ALL]).toBe('Why is the sky blue?');
  expect(room.askAll('why?')).toBe(true);
  expect(asked).toHaveLength(3);
  expect(new Set(asked.map(({ messages }) => messages[0]?.content)).size).toBe(3);
});

it('keeps an answer and its figures once it has ended, whatever becomes of the request’s row', () => {
  const { room, store, chat, answer, finish, firstId } = openTab();
  room.ask(firstId, 'why?');
  answer('r1', 'because');
  expect(chat()?.exchanges).toMatchObject([{ question: 'why?', answers: [{ text: '' }] }]);
  finish('r1', 'because');
  store.setState({ requests: new Map() });
  const end = { status: 'finished', numCachedTokens: 4, numPromptTokens: 9, contextLength: 512 };
  expect(chat()?.exchanges).toMatchObject([{ answers: [{ text: 'because', end }] }]);
});

it('keeps apart what the model thought, and repeats the answer alone', () => {
  const { room, store, chat, asked, receive, finish, firstId } = openTab();
  room.ask(firstId, 'why?');
  const parts = [
    { type: 'reasoning', text: 'Hm' },
    { type: 'reasoning', text: '.' },
    { type: 'content', text: 'because' },
  ] as const;
  for (const part of parts)
    receive({ type: 'chunk', requestId: idOf('r1'), index: 0, text: 'x', tokenIds: [1], parts: [part] });
  const answer = { reasoning: 'Hm.', content: 'because', toolCalls: [] };
  expect(store.getState().requests.get(idOf('r1'))?.answer).toEqual(answer);
  finish('r1', '<think>Hm.</think>because', { answer });
  expect(chat()?.exchanges).toMatchObject([{ answers: [{ text: 'because', end: { thought: 'Hm.' } }] }]);
  room.ask(firstId, 'how?');
  expect(asked[1]?.messages.at(-2)).toEqual({ role: 'assistant', content: 'because' });
});

it('keeps the shape of an answer with its probabilities, and shows at its field why it was refused', () => {
  const { room, chat, receive, finish, firstId } = openTab();
  room.changeOption('responseFormat', 'choice\nyes\nno');
  room.ask(firstId, 'is it?');
  finish('r1', 'yes', { choiceProbabilities: [0.75, 0.25] });
  expect(chat()?.exchanges).toMatchObject([
    { answers: [{ shape: 'choice\nyes\nno', end: { choiceProbabilities: [0.75, 0.25] } }] },
  ]);
  room.changeOption('responseFormat', 'json_schema\n{"multipleOf": 2}');
  room.ask(firstId, 'is it?');
  const error = { code: 'RESPONSE_FORMAT_UNSUPPORTED', message: 'no', param: 'responseFormat.schema' };
  receive({ type: 'failed', requestId: idOf('r2'), error });
  expect(room.store.getState().optionErrors.responseFormat).toBe('no');
});

it('asks the next question with the answers before it', () => {
  const { room, asked, finish, firstId } = openTab();
  room.ask(firstId, 'why?');
  finish('r1', 'because');
  room.ask(firstId, 'really?');
  expect(asked[1]?.messages.slice(1)).toEqual([
    { role: 'user', content: 'why?' },
    { role: 'assistant', content: 'because' },
    { role: 'user', content: 'really?' },
  ]);
});

it('asks again in place of an exchange, which keeps its id and loses what followed, until that is taken back', () => {
  const { room, chat, texts, finish, firstId } = openTab();
  room.ask(firstId, 'why?');
  finish('r1', 'because');
  const id = chat()?.exchanges[0]?.id;
  room.ask(firstId, 'really?');
  finish('r2', 'yes');
  room.ask(firstId, 'how?', id);
  expect(chat()?.exchanges).toMatchObject([{ id, question: 'how?', answers: [{ text: '' }] }]);
  room.list.undo();
  expect(texts()).toEqual(['because', 'yes']);
});

it('stops an answer and keeps its beginning', () => {
  const { room, chat, answer, cancelled, firstId } = openTab();
  room.ask(firstId, 'why?');
  answer('r1', 'beca');
  room.stop(firstId);
  expect(cancelled).toEqual(['r1']);
  expect(chat()?.exchanges).toMatchObject([{ answers: [{ text: 'beca', end: { status: 'cancelled' } }] }]);
});

it('stops an answer that repeats itself, says so, and goes on with it where the reader wants that', async () => {
  const { room, chat, answer, cancelled, firstId } = openTab();
  const sentence = ' I’m glad you enjoyed the story of Rex.';
  room.ask(firstId, 'why?');
  for (let times = 1; times <= 6; times++) answer('r1', sentence);
  expect(cancelled).toEqual([]);
  answer('r1', sentence);
  expect(cancelled).toEqual(['r1']);
  const [stopped] = chat()?.exchanges ?? [];
  if (!stopped) throw new Error('No exchange');
  expect(shownAnswer(stopped)).toMatchObject({
    text: sentence.repeat(7),
    end: { status: 'cancelled', isLoop: true },
  });
  await room.continueAnswer(firstId, stopped);
  answer('r2', sentence);
  expect(cancelled, 'what it repeated before doesn’t count').toEqual(['r1']);
  room.stop(firstId);
  expect(chat()?.exchanges[0]?.answers[0].end).not.toHaveProperty('isLoop');
});

it('lets answers repeat themselves where the reader allows it, also after a reload', () => {
  const browser = createBrowser();
  openTab(browser).room.store.setState({ allowsLoops: true });
  const { room, answer, cancelled, firstId } = openTab(browser);
  room.ask(firstId, 'why?');
  answer('r1', 'very '.repeat(100));
  expect(cancelled).toEqual([]);
});

it('keeps the versions of an answer; taking back a new one while it grows brings the old one back', () => {
  const { room, chat, texts, answer, finish, firstId } = openTab();
  room.ask(firstId, 'why?');
  finish('r1', 'because');
  room.ask(firstId, 'really?');
  finish('r2', 'yes');
  const [first] = chat()?.exchanges ?? [];
  if (!first) throw new Error('No exchange');
  room.regenerate(firstId, first);
  answer('r3', 'ot');
  room.list.undo();
  expect(texts()).toEqual(['because', 'yes']);
  room.regenerate(firstId, first);
  finish('r4', 'other');
  expect(chat()?.exchanges).toMatchObject([{ answers: [{ text: 'because' }, { text: 'other' }], shown: 1 }]);
  room.list.show(firstId, first.id, 0);
  expect(texts()).toEqual(['because']);
});

it('goes on where an answer was cut', async () => {
  const { room, chat, texts, asked, finish, firstId } = openTab();
  room.ask(firstId, 'why?');
  finish('r1', 'beca', { finishReason: 'length' });
  const [cut] = chat()?.exchanges ?? [];
  if (!cut) throw new Error('No exchange');
  await room.continueAnswer(firstId, cut);
  expect(asked[1]?.messages, 'the tokens of the chat and of the beginning').toEqual([1, 2, 3, 3, 3, 3]);
  finish('r2', 'use');
  expect(texts()).toEqual(['because']);
});

describe('a message to a chat that answers', () => {
  it('waits until the answer has ended', () => {
    const { room, asked, finish, firstId } = openTab();
    room.ask(firstId, 'why?');
    expect(room.askAll('and?')).toBe(true);
    expect(asked).toHaveLength(3);
    room.ask(firstId, 'really?');
    finish('r1', 'because');
    expect(asked[3]?.messages.map(({ content }) => content).slice(1)).toEqual(['why?', 'because', 'and?']);
    finish('r4', 'yes');
    expect(asked[4]?.messages.at(-1)?.content).toBe('really?');
  });

  it('can be taken back, and is given back when the answer is stopped', () => {
    const { room, asked, firstId } = openTab();
    const view = () => room.store.getState();
    room.ask(firstId, 'why?');
    for (const text of ['one', 'two', 'three']) room.ask(firstId, text);
    room.takeBack(firstId, 1);
    expect([view().queues[firstId], view().drafts[firstId]]).toEqual([['one', 'three'], 'two']);
    room.stop(firstId);
    expect([view().queues[firstId], view().drafts[firstId]]).toEqual([[], 'two\n\none\n\nthree']);
    expect(asked).toHaveLength(1);
  });

  it('also waits for a model, whose defaults are not known before', () => {
    const { room, store, asked, firstId } = openTab();
    store.setState({ status: createStatus({ state: 'loading' }) });
    expect(room.ask(firstId, 'why?')).toBe(true);
    expect(asked).toEqual([]);
    store.setState({ status: READY });
    expect(asked).toHaveLength(1);
  });
});

describe('nothing is sent', () => {
  it.each(['', '  \n'])('for the message %j', (message) => {
    const { room, asked } = openTab();
    expect(room.askAll(message)).toBe(false);
    expect(asked).toEqual([]);
  });

  it('with a wrong option, whose error is shown until it is changed', () => {
    const { room, asked } = openTab();
    const errorCode = (): string | undefined => room.store.getState().error?.code;
    room.changeOption('temperature', 'hot');
    expect(room.askAll('why?')).toBe(false);
    expect(asked).toEqual([]);
    expect(errorCode()).toBe('INVALID_OPTION');
    room.changeOption('temperature', '1');
    expect(errorCode()).toBeUndefined();
    room.askAll('why?');
    expect(asked[0]?.options).toEqual({ maxNewTokens: 512, temperature: 1 });
  });

  it('while no model runs', () => {
    const { room, store, asked } = openTab();
    store.setState({ status: createStatus({ state: 'failed' }) });
    expect(room.askAll('why?')).toBe(false);
    expect(asked).toEqual([]);
  });
});

it('asks one question at three temperatures; the columns before come back', () => {
  const { room, asked, columns } = openTab();
  const before = columns();
  expect(questionOf(room.store.getState())).toBe('Why is the sky blue?');
  room.compareTemperatures('why?');
  expect(asked.map(({ options }) => options)).toEqual(
    [0, 0.7, 1.2].map((temperature) => ({ maxNewTokens: 512, temperature })),
  );
  room.list.undo();
  expect(columns()).toEqual(before);
});

describe('closing, clearing and deleting', () => {
  it('end the answer and can be taken back, also in the last chat', () => {
    const { room, columns, texts, cancelled, answer, firstId } = openTab();
    for (const id of columns().slice(1)) room.list.close(id);
    for (const [index, act] of (['close', 'clear', 'remove'] as const).entries()) {
      room.ask(firstId, `why ${act}?`);
      answer(`r${index + 1}`, act);
      room.list[act](firstId);
      room.list.undo();
      expect([columns(), texts()?.at(-1)]).toEqual([[firstId], act]);
    }
    expect(cancelled).toEqual(['r1', 'r2', 'r3']);
  });

  it('leave a closed chat in the list, and take a deleted one out of storage', () => {
    const browser = createBrowser();
    const { room, finish, firstId } = openTab(browser);
    room.ask(firstId, 'why?');
    finish('r1', 'because');
    room.list.close(firstId);
    expect([...browser.stored.keys()]).toEqual([firstId]);
    room.list.remove(firstId);
    expect(browser.stored.size).toBe(0);
  });
});

it('brings back after a reload columns, drafts, queued messages, options, and an answer as far as it was', () => {
  const browser = createBrowser();
  const { room, answer, finish, written, columns, firstId } = openTab(browser);
  room.ask(firstId, 'why?');
  finish('r1', 'because');
  room.ask(firstId, 'really?');
  answer('r2', 'ye');
  room.ask(firstId, 'sure?');
  room.setDraft(firstId, 'typed');
  room.changeOption('temperature', '1');
  room.list.save();
  const next = openTab(browser, { ...(written.tab && { tab: written.tab }) });
  expect(next.columns()).toEqual(columns());
  expect(next.texts()).toEqual(['because', 'ye']);
  expect(next.chat()?.exchanges[1]).toMatchObject({ answers: [{ end: { status: 'cancelled' } }] });
  expect(next.room.store.getState().drafts[firstId]).toBe('typed\n\nsure?');
  next.room.ask(firstId, 'and?');
  expect(next.asked[0]).toMatchObject({ messages: { length: 6 }, options: { temperature: 1 } });
});

/** Two tabs that have the same chat open, in which the first one has asked. */
function openPair() {
  const browser = createBrowser();
  const first = openTab(browser);
  first.room.ask(first.firstId, 'why?');
  const second = openTab(browser, { name: 's' });
  return { first, second, id: first.firstId };
}

/** Of a request of another tab. */
const activityOf = (state: 'running' | 'cancelled') => ({
  type: 'activity' as const,
  activity: {
    isSnapshot: false,
    requests: [
      {
        requestId: idOf('r1'),
        clientId: OTHER_TAB,
        deployment: TEXT_GENERATOR,
        inputPreview: 'why?',
        state,
        numOutputTokens: 1,
      },
    ],
  },
});

describe('a second tab', () => {
  it('begins with the list, and hears of an answer that another tab writes', () => {
    const { first, second, id } = openPair();
    expect(second.columns()).toEqual([]);
    const listed = [...second.room.store.getState().chats.values()];
    expect(listed.map(titleOf)).toEqual(['why?']);
    second.room.list.open(id);
    expect(second.chat()?.exchanges[0], 'it still grows').not.toMatchObject({ answers: [{ end: {} }] });
    first.finish('r1', 'because');
    expect(second.texts()).toEqual(['because']);
  });

  it('queues its message behind that answer, and both have both then', () => {
    const { first, second, id } = openPair();
    second.room.list.open(id);
    second.room.ask(id, 'really?');
    expect(second.asked).toEqual([]);
    second.room.list.rename(id, 'Sky');
    first.finish('r1', 'because');
    second.finish('s1', 'yes');
    for (const { texts, chat } of [first, second]) {
      expect(texts()).toEqual(['because', 'yes']);
      expect(chat()?.title).toBe('Sky');
    }
  });

  it('ends an answer whose tab is gone', () => {
    const { second, id } = openPair();
    second.room.list.open(id);
    applyEvents(second.store, [activityOf('running')]);
    applyEvents(second.store, [activityOf('cancelled')]);
    expect(second.chat()?.exchanges).toMatchObject([{ answers: [{ end: { status: 'cancelled' } }] }]);
  });

  it('loses a chat that the other deletes, and has it again when that is taken back', () => {
    const { first, second, id } = openPair();
    second.room.list.open(id);
    first.room.list.remove(id);
    expect(second.columns()).toEqual([]);
    expect(first.cancelled).toEqual(['r1']);
    first.room.list.undo();
    expect(second.room.list.get(id)?.exchanges).toHaveLength(1);
  });

  it('says that the other has deleted the chat of a column, which comes back with its answer', () => {
    const { first, second, id } = openPair();
    second.room.list.open(id);
    first.room.list.remove(id);
    expect(second.room.store.getState().undo?.text).toBe('Another tab deleted “why?”.');
    second.room.list.undo();
    expect(second.columns()).toEqual([id]);
    expect(first.room.list.get(id)?.exchanges).toHaveLength(1);
    expect(first.room.store.getState().undo, 'it is back already').toBeUndefined();
  });

  it('says nothing of a deleted chat that it doesn’t show', () => {
    const { first, second, id } = openPair();
    first.room.list.remove(id);
    expect(second.room.store.getState().undo).toBeUndefined();
  });

  it('takes over on its return what was changed while it was put away', async () => {
    const browser = createBrowser();
    const { room, firstId } = openTab(browser);
    room.list.rename(firstId, 'Before');
    const before = room.list.get(firstId);
    if (!before) throw new Error('No chat');
    const changed = { ...before, title: 'After', changedAtMs: Date.now() + 1000 };
    browser.stored.set(firstId, changed);
    await room.list.refresh();
    expect(room.list.get(firstId)?.title).toBe('After');
  });
});
