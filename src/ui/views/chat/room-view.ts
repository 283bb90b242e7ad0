import type { WireError } from '../../../client/index.ts';
import { EMPTY_GENERATION_TEXTS, type GenerationErrors } from '../../state/generation-fields.ts';
import type { SavedChats } from './chat-place.ts';
import type { SharedOptions } from './chat-schema.ts';
import { createChat, DEFAULT_SYSTEM_PROMPT, STARTER_PROMPTS, type Chat } from './chats.ts';

/** A step that can be taken back: the chats as they were, and the columns. */
export interface Undo {
  /** The action, for the note. */
  readonly text: string;
  readonly chats: readonly Chat[];
  readonly columns: readonly string[];
}

export interface RoomView extends SharedOptions {
  /** By id: those of all tabs, and this tab's blank ones. */
  readonly chats: ReadonlyMap<string, Chat>;
  /** The ids of the chats that this tab shows, from left to right. */
  readonly columns: readonly string[];
  /** Unsent texts by the id of a chat, or by `ALL`. */
  readonly drafts: Readonly<Record<string, string>>;
  /** Messages that wait for the end of an answer, or for a model, by the id of a chat. */
  readonly queues: Readonly<Record<string, readonly string[]>>;
  readonly optionErrors: GenerationErrors;
  /** Why the last question was not sent. */
  readonly error?: WireError | undefined;
  readonly undo?: Undo | undefined;
  /** The model of the link that was opened. */
  readonly linkedModel?: string | undefined;
}

/** The draft of the box that asks all chats. */
export const ALL = '';

/** A question that nobody has asked yet. */
const STARTER = 'Why is the sky blue?';

/** A new tab begins with the list; the first visit, with three chats and a question for them. */
export function createRoomView({ chats, tab, options }: SavedChats): RoomView {
  const starters =
    tab || chats.length > 0 ? [] : STARTER_PROMPTS.map((systemPrompt) => createChat({ systemPrompt }));
  const all = new Map([...chats, ...(tab?.blanks ?? []), ...starters].map((chat) => [chat.id, chat]));
  return {
    chats: all,
    columns: (tab?.columns ?? starters.map(({ id }) => id)).filter((id) => all.has(id)),
    drafts: tab?.drafts ?? (starters.length > 0 ? { [ALL]: STARTER } : {}),
    queues: {},
    systemPrompt: options?.systemPrompt ?? DEFAULT_SYSTEM_PROMPT,
    texts: options?.texts ?? EMPTY_GENERATION_TEXTS,
    allowsLoops: options?.allowsLoops,
    optionErrors: {},
  };
}

/** The chats of a new tab. */
export function sharedOptions({ systemPrompt, texts, allowsLoops }: RoomView): SharedOptions {
  return { systemPrompt, texts, allowsLoops };
}

/** The text that a comparison of temperatures asks: the draft, else the newest question. */
export function questionOf({ drafts, columns, chats }: RoomView): string {
  const keys = [ALL, ...columns];
  const draft = keys.map((key) => drafts[key] ?? '').find((text) => text.trim() !== '');
  return draft ?? columns.map((id) => chats.get(id)?.exchanges.at(-1)?.question).find((text) => text) ?? '';
}
