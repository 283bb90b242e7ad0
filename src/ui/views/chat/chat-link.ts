import * as v from 'valibot';
import type { WireError } from '../../../client/index.ts';
import { readPermalink, withPermalink } from '../../state/permalink.ts';
import { chatSchema, type SharedOptions } from './chat-schema.ts';
import { createChat, shownAnswer, type Chat } from './chats.ts';
import { linkBroken } from './link-errors.ts';

/**
 * An address of the chats that brings a chat back, with its answers in view and all that they were asked with.
 *
 * @param shared Settings of all chats, in force where the chat has none of its own.
 */
export function withChat(href: string, chat: Chat, shared: SharedOptions, model: string | undefined): string {
  const exchanges = chat.exchanges.flatMap((exchange) => {
    const { text, end, shape } = shownAnswer(exchange);
    // What another tab still writes would never end at the receiver.
    return end ? [{ ...exchange, answers: [{ text, end, shape }], shown: 0 }] : [];
  });
  const systemPrompt = chat.systemPrompt ?? shared.systemPrompt;
  const texts = { ...shared.texts, ...chat.texts };
  const link = JSON.stringify({ ...chat, systemPrompt, texts, exchanges });
  return withPermalink(href, { texts: {}, chat: link, model });
}

/** The chat that an address brings, as a new one; undefined where it brings none. */
export function readChat(hash: string): Chat | WireError | undefined {
  const { chat } = readPermalink(hash);
  if (chat === undefined) return undefined;
  const read = v.safeParse(v.pipe(v.string(), v.parseJson(), chatSchema), chat);
  if (!read.success) return linkBroken();
  const { title, exchanges, systemPrompt, texts } = read.output;
  return { ...createChat({ systemPrompt, texts }), title, exchanges };
}
