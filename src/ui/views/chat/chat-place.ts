import { createStore, del, entries, set, type UseStore } from 'idb-keyval';

import type { GenerationTexts } from '../../state/generation-fields.ts';
import { readStored, writeStored } from '../../browser/stored-text.ts';
import type { Chat } from './chats.ts';

/** What is this tab's own. A reload brings it back. */
export interface TabState {
  /** The ids of the chats that are open side by side. */
  readonly columns: readonly string[];
  readonly blanks: readonly Chat[];
  /** By the id of a chat. */
  readonly drafts: Readonly<Record<string, string>>;
}

/** What all chats of a new tab begin with. */
export interface SharedOptions {
  readonly systemPrompt: string;
  readonly texts: GenerationTexts;
  /** Left out: answers that repeat themselves are stopped. */
  readonly allowsLoops?: boolean | undefined;
}

export interface SavedChats {
  readonly chats: readonly Chat[];
  readonly tab?: TabState | undefined;
  readonly options?: SharedOptions | undefined;
}

/** What one tab tells the others. */
export type ChatChange =
  | { readonly type: 'changed'; readonly chat: Chat }
  | { readonly type: 'removed'; readonly id: string }
  /** A tab has read the chats, and asks for those that are being written. */
  | { readonly type: 'opened' };

/** Where the chats of all tabs are kept. Where the browser stores nothing, writing does nothing, and the chats last as long as the tab. */
export interface ChatPlace {
  read(): Promise<SavedChats>;
  write(chat: Chat): Promise<void>;
  remove(id: string): Promise<void>;
  writeTab(tab: TabState): void;
  writeOptions(options: SharedOptions): void;
  tell(change: ChatChange): void;
  listen(listener: (change: ChatChange) => void): void;
}

const NAME = 'tabserve-chat';

/** The browser's storage, and a channel to the other tabs. */
export function openPlace(): ChatPlace {
  let opened: UseStore | undefined;
  const database = (): UseStore => (opened ??= createStore(NAME, 'chats'));
  const channel = new BroadcastChannel(NAME);
  return {
    read: async () => ({
      chats: await attempt(async () => (await entries<string, Chat>(database())).map(([, chat]) => chat), []),
      tab: JSON.parse(readStored('sessionStorage', NAME) ?? 'null') ?? undefined,
      options: JSON.parse(readStored('localStorage', NAME) ?? 'null') ?? undefined,
    }),
    write: (chat) => attempt(() => set(chat.id, chat, database()), undefined),
    remove: (id) => attempt(() => del(id, database()), undefined),
    writeTab: (tab) => writeStored('sessionStorage', NAME, JSON.stringify(tab)),
    writeOptions: (options) => writeStored('localStorage', NAME, JSON.stringify(options)),
    tell: (change) => channel.postMessage(change),
    listen: (listener) => {
      channel.addEventListener('message', ({ data }: MessageEvent<ChatChange>) => listener(data));
    },
  };
}

/** In a private window, on a full disk or in a damaged profile, nothing is stored. */
async function attempt<Result>(act: () => Promise<Result>, fallback: Result): Promise<Result> {
  try {
    return await act();
  } catch {
    return fallback;
  }
}
