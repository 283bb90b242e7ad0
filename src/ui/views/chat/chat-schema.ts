import * as v from 'valibot';

import type { RequestId } from '../../../client/index.ts';
import type { GenerationTexts } from '../../state/generation-fields.ts';
import type { AnswerEnd, Chat } from './chats.ts';

// Another version of the page may have stored a chat or sent a change: what this one can't read, it leaves alone.

/** The state of one tab. A reload brings it back. */
export interface TabState {
  /** The ids of the chats that are open side by side. */
  readonly columns: readonly string[];
  readonly blanks: readonly Chat[];
  /** By the id of a chat. */
  readonly drafts: Readonly<Record<string, string>>;
}

/** Settings of all chats, for new tabs too. */
export interface SharedOptions {
  readonly systemPrompt: string;
  readonly texts: GenerationTexts;
  /** Left out: answers that repeat themselves are stopped. */
  readonly allowsLoops?: boolean | undefined;
}

/** A message from one tab to the others. */
export type ChatChange =
  | { readonly type: 'changed'; readonly chat: Chat }
  | { readonly type: 'removed'; readonly id: string }
  /** A tab has read the chats, and asks for those that are being written. */
  | { readonly type: 'opened' };

const text = v.string();
const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null;
const texts = v.custom<GenerationTexts>(isObject);

const answer = v.object({
  text,
  requestId: v.exactOptional(v.custom<RequestId>((id) => typeof id === 'string')),
  end: v.exactOptional(v.custom<AnswerEnd>((end) => v.is(v.object({ status: text }), end))),
  shape: v.optional(text),
});

export const chatSchema: v.GenericSchema<unknown, Chat> = v.object({
  id: text,
  title: v.optional(text),
  systemPrompt: v.optional(text),
  texts: v.optional(texts),
  exchanges: v.array(
    v.object({
      id: text,
      question: text,
      askedAtMs: v.number(),
      answers: v.tupleWithRest([answer], answer),
      shown: v.number(),
    }),
  ),
  changedAtMs: v.number(),
});

export const tabSchema: v.GenericSchema<unknown, TabState> = v.object({
  columns: v.array(text),
  blanks: v.array(chatSchema),
  drafts: v.record(text, text),
});

export const optionsSchema: v.GenericSchema<unknown, SharedOptions> = v.object({
  systemPrompt: text,
  texts,
  allowsLoops: v.optional(v.boolean()),
});

export const changeSchema: v.GenericSchema<unknown, ChatChange> = v.variant('type', [
  v.object({ type: v.literal('changed'), chat: chatSchema }),
  v.object({ type: v.literal('removed'), id: text }),
  v.object({ type: v.literal('opened') }),
]);
