import { describe, expect, it } from 'vitest';

import {
  TEXT_GENERATOR,
  type ChatMessage,
  type ClientUpdate,
  type GenerationChoice,
  type RequestId,
  type TabserveClient,
} from '../../client/index.ts';
import { applyEvents, createServeStore } from '../state/serve-store.ts';
import { createStatus, idOf } from '../test-support.ts';
import { ChatRoom } from './chat-room.ts';
import type { SavedRoom } from './room-store.ts';

/** A room whose requests are r1, r2, …; `receive` plays the updates that the client gets. */
function createRoom(saved?: SavedRoom) {
  const store = createServeStore(createStatus());
  const asked: { messages: readonly ChatMessage[]; options: object }[] = [];
  const cancelled: RequestId[] = [];
  const written: SavedRoom[] = [];
  const receive = (...updates: ClientUpdate[]): void =>
    applyEvents(store, [{ type: 'requests', updates, receivedAtMs: 0 }]);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all that the room calls
  const serve = {
    getHandle: () => ({
      remote: (input: readonly ChatMessage[], options: object) => {
        asked.push({ messages: input, options });
        const requestId = idOf(`r${asked.length}`);
        receive({ type: 'submitted', requestId, deployment: TEXT_GENERATOR, input });
        return { requestId };
      },
    }),
    cancel: (requestId: RequestId) => {
      cancelled.push(requestId);
      receive({ type: 'failed', requestId, error: { code: 'REQUEST_CANCELLED', message: 'stopped' } });
    },
  } as unknown as TabserveClient;
  const place = {
    read: () => Promise.resolve(saved),
    write: (room: SavedRoom) => Promise.resolve(void written.push(room)),
  };
  const room = new ChatRoom(serve, store, place, saved);
  const chats = () => room.store.getState().chats;
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
  const firstId = chats()[0]?.id ?? '';
  return { room, store, asked, cancelled, written, chats, receive, answer, finish, firstId };
}

it('offers three chats that answer the same question under different system prompts', () => {
  const { room, asked } = createRoom();
  expect(room.askAll('why?')).toBe(true);
  expect(asked).toHaveLength(3);
  expect(new Set(asked.map(({ messages }) => messages[0]?.content)).size).toBe(3);
});

it('keeps an answer and its figures once it has ended, whatever becomes of the request’s row', () => {
  const { room, store, chats, answer, finish, firstId } = createRoom();
  room.ask(firstId, 'why?');
  answer('r1', 'because');
  expect(chats()[0]?.exchanges).toMatchObject([{ question: 'why?', answer: '' }]);
  finish('r1', 'because');
  store.setState({ requests: new Map() });
  expect(chats()[0]?.exchanges).toMatchObject([
    { answer: 'because', end: { status: 'finished', numCachedTokens: 4, numPromptTokens: 9 } },
  ]);
});

it('keeps apart what the model thought, and repeats the answer alone', () => {
  const { room, store, chats, asked, receive, finish, firstId } = createRoom();
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
  expect(chats()[0]?.exchanges).toMatchObject([{ answer: 'because', end: { thought: 'Hm.' } }]);
  room.ask(firstId, 'how?');
  expect(asked[1]?.messages.at(-2)).toEqual({ role: 'assistant', content: 'because' });
});

it('keeps the shape of an answer with its probabilities, and shows at its field why it was refused', () => {
  const { room, chats, receive, finish, firstId } = createRoom();
  room.changeOption('responseFormat', 'choice\nyes\nno');
  room.ask(firstId, 'is it?');
  finish('r1', 'yes', { choiceProbabilities: [0.75, 0.25] });
  expect(chats()[0]?.exchanges).toMatchObject([
    { shape: 'choice\nyes\nno', end: { choiceProbabilities: [0.75, 0.25] } },
  ]);
  room.changeOption('responseFormat', 'json_schema\n{"multipleOf": 2}');
  room.ask(firstId, 'is it?');
  const error = { code: 'RESPONSE_FORMAT_UNSUPPORTED', message: 'no', param: 'responseFormat.schema' };
  receive({ type: 'failed', requestId: idOf('r2'), error });
  expect(room.store.getState().optionErrors.responseFormat).toBe('no');
});

it('asks the next question with the answers before it', () => {
  const { room, asked, finish, firstId } = createRoom();
  room.ask(firstId, 'why?');
  finish('r1', 'because');
  room.ask(firstId, 'really?');
  expect(asked[1]?.messages.slice(1)).toEqual([
    { role: 'user', content: 'why?' },
    { role: 'assistant', content: 'because' },
    { role: 'user', content: 'really?' },
  ]);
});

it('asks again in place of an exchange, which keeps its id and loses what followed', () => {
  const { room, chats, finish, firstId } = createRoom();
  room.ask(firstId, 'why?');
  finish('r1', 'because');
  const id = chats()[0]?.exchanges[0]?.id;
  room.ask(firstId, 'really?');
  finish('r2', 'yes');
  room.ask(firstId, 'how?', id);
  expect(chats()[0]?.exchanges).toMatchObject([{ id, question: 'how?', answer: '' }]);
});

it('stops an answer and keeps its beginning', () => {
  const { room, chats, answer, cancelled, firstId } = createRoom();
  room.ask(firstId, 'why?');
  answer('r1', 'beca');
  room.stop(firstId);
  expect(cancelled).toEqual(['r1']);
  expect(chats()[0]?.exchanges).toMatchObject([{ answer: 'beca', end: { status: 'cancelled' } }]);
});

describe('nothing is sent', () => {
  it.each(['', '  \n'])('for the message %j', (message) => {
    const { room, asked } = createRoom();
    expect(room.askAll(message)).toBe(false);
    expect(asked).toEqual([]);
  });

  it('by a chat that still answers; the others ask', () => {
    const { room, asked, firstId } = createRoom();
    room.ask(firstId, 'why?');
    expect(room.ask(firstId, 'and?')).toBe(false);
    room.askAll('really?');
    expect(asked).toHaveLength(3);
  });

  it('with a wrong option, whose error is shown until it is changed', () => {
    const { room, asked } = createRoom();
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
    const { room, store, asked } = createRoom();
    store.setState({ status: createStatus({ state: 'failed' }) });
    expect(room.askAll('why?')).toBe(false);
    expect(asked).toEqual([]);
  });
});

it('keeps chats for the next visit; an answer that grows is kept as if it were stopped', () => {
  const { room, answer, finish, written, firstId } = createRoom();
  room.ask(firstId, 'why?');
  finish('r1', 'because');
  room.ask(firstId, 'really?');
  answer('r2', 'ye');
  room.save();
  const saved = written.at(-1);
  expect(saved?.chats[0]?.exchanges).toMatchObject([
    { answer: 'because', end: { status: 'finished' } },
    { answer: 'ye', end: { status: 'cancelled', numOutputTokens: 1 } },
  ]);
  const next = createRoom(saved);
  expect(next.chats()).toEqual(saved?.chats);
  expect(next.room.ask(next.firstId, 'sure?')).toBe(true);
  expect(next.asked[0]?.messages).toHaveLength(6);
});

it('closes a chat and stops its answer', () => {
  const { room, chats, cancelled, firstId } = createRoom();
  room.ask(firstId, 'why?');
  room.closeChat(firstId);
  expect(cancelled).toEqual(['r1']);
  expect(chats().map(({ ordinal }) => ordinal)).toEqual([2, 3]);
  room.newChat();
  expect(chats().map(({ ordinal }) => ordinal)).toEqual([2, 3, 4]);
});
