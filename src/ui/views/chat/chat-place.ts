import { createStore, del, set, values, type UseStore } from 'idb-keyval';
import * as v from 'valibot';

import { readStored, writeStored } from '../../browser/stored-text.ts';
import {
  changeSchema,
  chatSchema,
  optionsSchema,
  tabSchema,
  type ChatChange,
  type SharedOptions,
  type TabState,
} from './chat-schema.ts';
import type { Chat } from './chats.ts';

export interface SavedChats {
  readonly chats: readonly Chat[];
  readonly tab?: TabState | undefined;
  readonly options?: SharedOptions | undefined;
}

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

/** A format that this page can't read takes another name: then its pages share neither the chats nor the channel. */
const NAME = 'tabserve-chat';

/** The browser's storage, and a channel to the other tabs. */
export function openPlace(): ChatPlace {
  let opened: UseStore | undefined;
  const database = (): UseStore => (opened ??= createStore(NAME, 'chats'));
  const channel = new BroadcastChannel(NAME);
  return {
    read: async () => ({
      chats: await attempt(async () => (await values(database())).flatMap(readChat), []),
      tab: readJson(tabSchema, readStored('sessionStorage', NAME)),
      options: readJson(optionsSchema, readStored('localStorage', NAME)),
    }),
    write: (chat) => attempt(() => set(chat.id, chat, database()), undefined),
    remove: (id) => attempt(() => del(id, database()), undefined),
    writeTab: (tab) => writeStored('sessionStorage', NAME, JSON.stringify(tab)),
    writeOptions: (options) => writeStored('localStorage', NAME, JSON.stringify(options)),
    tell: (change) => channel.postMessage(change),
    listen: (listener) => {
      channel.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
        const { success, output } = v.safeParse(changeSchema, data);
        if (success) listener(output);
      });
    },
  };
}

function readChat(stored: unknown): readonly Chat[] {
  const { success, output } = v.safeParse(chatSchema, stored);
  return success ? [output] : [];
}

function readJson<Value>(
  schema: v.GenericSchema<unknown, Value>,
  json: string | null | undefined,
): Value | undefined {
  const { success, output } = v.safeParse(v.pipe(v.string(), v.parseJson(), schema), json);
  return success ? output : undefined;
}

/** In a private window, on a full disk or in a damaged profile, nothing is stored. */
async function attempt<Result>(act: () => Promise<Result>, fallback: Result): Promise<Result> {
  try {
    return await act();
  } catch {
    return fallback;
  }
}
