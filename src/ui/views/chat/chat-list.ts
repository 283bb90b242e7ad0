import type { StoreApi } from 'zustand/vanilla';

import type { ChatPlace } from './chat-place.ts';
import {
  createChat,
  isBlank,
  mergeChat,
  titleOf,
  withChanged,
  type Chat,
  type ChatSettings,
} from './chats.ts';
import type { RoomView } from './room-view.ts';

interface Writing {
  /** Whether this tab writes an answer of the chat. */
  readonly isWriting: (id: string) => boolean;
  /** The chat as if its answer were stopped now. */
  readonly settled: (chat: Chat) => Chat;
  readonly stop: (id: string) => void;
}

/** The chats that all tabs share, and the columns of this tab. Each change is stored and told to the other tabs. */
export class ChatList {
  readonly #store: StoreApi<RoomView>;
  readonly #place: ChatPlace;
  readonly #writing: Writing;

  constructor(store: StoreApi<RoomView>, place: ChatPlace, writing: Writing) {
    this.#store = store;
    this.#place = place;
    this.#writing = writing;
    place.listen((change) => {
      if (change.type === 'changed') this.#receive(change.chat);
      else if (change.type === 'removed') this.#lose(change.id);
      else for (const chat of this.#writtenChats()) place.tell({ type: 'changed', chat });
    });
    place.tell({ type: 'opened' });
    store.subscribe(({ chats, columns, drafts, queues }, before) => {
      const isSame = chats === before.chats && columns === before.columns;
      if (!isSame || drafts !== before.drafts || queues !== before.queues) this.#saveTab();
    });
    this.#saveTab();
  }

  get(id: string): Chat | undefined {
    return this.#store.getState().chats.get(id);
  }

  change(id: string, change: (chat: Chat) => Chat): void {
    const chat = this.get(id);
    if (chat) this.#put(change(chat));
  }

  /** Opens a new chat beside the others, and returns its id. */
  add(settings?: ChatSettings): string {
    return this.addChat(createChat(settings));
  }

  addChat(chat: Chat): string {
    this.#put(chat);
    this.open(chat.id);
    return chat.id;
  }

  open(id: string): void {
    this.#store.setState(({ columns }) => ({ columns: columns.includes(id) ? columns : [...columns, id] }));
  }

  /** Takes the column away and ends its answer. The chat stays in the list unless nothing was said in it. */
  close(id: string): void {
    this.#offerUndo('Closed', [id]);
    this.#writing.stop(id);
    this.#setColumns((columns) => columns.filter((column) => column !== id));
  }

  /** Removes all messages. */
  clear(id: string): void {
    this.offerUndoOf('Cleared', id);
    this.#writing.stop(id);
    this.change(id, (chat) => ({ ...chat, exchanges: [] }));
  }

  /** Removes the chat in all tabs. */
  remove(id: string): void {
    this.offerUndoOf('Deleted', id);
    this.#forget(id);
    void this.#place.remove(id);
    this.#place.tell({ type: 'removed', id });
  }

  /** @param title Without text, the first words are the title again. */
  rename(id: string, title: string): void {
    this.change(id, (chat) => ({ ...chat, title: title || undefined }));
  }

  /** Shows another version of an answer. */
  show(id: string, exchangeId: string, shown: number): void {
    this.change(id, (chat) => withChanged(chat, exchangeId, (exchange) => ({ ...exchange, shown })));
  }

  /** Puts new chats in place of the columns. */
  arrange(settings: readonly ChatSettings[]): readonly string[] {
    const { columns } = this.#store.getState();
    this.#offerUndo('Closed', columns);
    for (const id of columns) this.#writing.stop(id);
    this.#setColumns(() => []);
    return settings.map((each) => this.add(each));
  }

  /** Call before messages are removed from a chat. */
  offerUndoOf(done: string, id: string): void {
    const chat = this.get(id);
    if (chat) this.#offerUndo(done, [id], [chat]);
  }

  undo(): void {
    const { undo } = this.#store.getState();
    if (!undo) return;
    for (const chat of undo.chats) {
      this.#writing.stop(chat.id);
      this.#put(chat);
    }
    this.#store.setState({ undo: undefined, columns: undo.columns });
  }

  /** Stores answers that still grow as if they were stopped: the page may end now, and another tab may go on. */
  save(): void {
    for (const written of this.#writtenChats()) {
      const chat = later(this.#writing.settled(written), written);
      void this.#place.write(chat);
      this.#place.tell({ type: 'changed', chat });
    }
  }

  /** Takes over what other tabs have changed while this page was put away. */
  async refresh(): Promise<void> {
    for (const chat of (await this.#place.read()).chats) this.#receive(chat);
  }

  /** Ends the answer of a tab that is gone. That tab’s own end is newer, if it comes. */
  settle(id: string): void {
    const chat = this.get(id);
    if (chat) this.#set(this.#writing.settled(chat));
  }

  #put(changed: Chat): void {
    const before = this.get(changed.id);
    const chat = later(changed, before);
    this.#set(chat);
    if (!isBlank(chat)) {
      void this.#place.write(this.#writing.settled(chat));
      this.#place.tell({ type: 'changed', chat });
    } else if (before && !isBlank(before)) {
      void this.#place.remove(chat.id);
      this.#place.tell({ type: 'changed', chat });
    }
  }

  #set(chat: Chat): void {
    this.#store.setState(({ chats }) => ({ chats: new Map(chats).set(chat.id, chat) }));
  }

  #receive(theirs: Chat): void {
    const mine = this.get(theirs.id);
    const merged = mergeChat(mine, theirs, this.#writing.isWriting(theirs.id));
    if (merged !== mine) this.#set(merged);
    // Undo would take away what was said since the chat came back.
    const isBack = !mine && this.#store.getState().undo?.chats.some(({ id }) => id === theirs.id);
    if (isBack) this.#store.setState({ undo: undefined });
  }

  /** A column doesn't go without a word where another tab has deleted its chat. */
  #lose(id: string): void {
    if (this.#store.getState().columns.includes(id)) this.offerUndoOf('Another tab deleted', id);
    this.#forget(id);
  }

  #forget(id: string): void {
    this.#writing.stop(id);
    this.#store.setState(({ chats, columns }) => ({
      chats: new Map([...chats].filter(([other]) => other !== id)),
      columns: columns.filter((column) => column !== id),
    }));
  }

  #setColumns(change: (columns: readonly string[]) => readonly string[]): void {
    this.#store.setState(({ columns }) => ({ columns: change(columns) }));
  }

  /** @param chats Those that change; they come back as they are now. */
  #offerUndo(done: string, ids: readonly string[], chats: readonly Chat[] = []): void {
    const { columns } = this.#store.getState();
    const [first] = ids.flatMap((id) => this.get(id) ?? []);
    if (!first) return;
    const text = `${done} ${ids.length > 1 ? `${ids.length} chats` : `“${titleOf(first)}”`}.`;
    this.#store.setState({ undo: { text, columns, chats: chats.map(this.#writing.settled) } });
  }

  #writtenChats(): readonly Chat[] {
    return [...this.#store.getState().chats.values()].filter(({ id }) => this.#writing.isWriting(id));
  }

  #saveTab(): void {
    const { chats, columns, drafts, queues } = this.#store.getState();
    const kept = ['', ...columns].map(
      (id) => [id, joinTexts([drafts[id] ?? '', ...(queues[id] ?? [])])] as const,
    );
    const blanks = columns.flatMap((id) => chats.get(id) ?? []).filter(isBlank);
    this.#place.writeTab({ columns, blanks, drafts: Object.fromEntries(kept) });
  }
}

/** Messages that go back into a box, each as a paragraph. */
export function joinTexts(texts: readonly string[]): string {
  return texts.filter((text) => text !== '').join('\n\n');
}

/** The change counts as later than the one before, even on a clock that stands still. */
function later(chat: Chat, before: Chat | undefined): Chat {
  return { ...chat, changedAtMs: Math.max(Date.now(), (before?.changedAtMs ?? 0) + 1) };
}
