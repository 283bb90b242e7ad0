import { useStore } from 'zustand';

import type { TabserveClient } from '../../../client/index.ts';
import { createRequiredContext } from '../../parts/required-context.ts';
import { canGenerate } from '../../state/can-generate.ts';
import { useServeView } from '../../state/serve-context.ts';
import type { ServeStore } from '../../state/serve-store.ts';
import { readPermalink } from '../../state/permalink.ts';
import { readChat } from './chat-link.ts';
import { openPlace } from './chat-place.ts';
import { ChatRoom } from './chat-room.ts';
import { activeExchange } from './chats.ts';
import type { RoomView } from './room-view.ts';

export const [RoomContext, useRoom] = createRequiredContext<ChatRoom>('RoomContext');

/** Renders again only when the selected value changes. */
export function useRoomView<Selected>(select: (view: RoomView) => Selected): Selected {
  return useStore(useRoom().store, select);
}

/** Whether a message is answered, now or after the load. */
export function useCanChat(): boolean {
  return useServeView(({ status }) => canGenerate(status.state) && status.model?.hasChatTemplate !== false);
}

/** Whether an answer of the chat waits or runs, in any tab: until it ends, no other message of the chat changes. */
export function useIsAnswering(chatId: string): boolean {
  return useRoomView(({ chats }) => {
    const chat = chats.get(chatId);
    return chat !== undefined && activeExchange(chat) !== undefined;
  });
}

let opened: Promise<ChatRoom> | undefined;

/** The page's room, with the chats of the last visit. */
export function openRoom(serve: TabserveClient, store: ServeStore): Promise<ChatRoom> {
  opened ??= readRoom(serve, store);
  return opened;
}

async function readRoom(serve: TabserveClient, store: ServeStore): Promise<ChatRoom> {
  const place = openPlace();
  const room = new ChatRoom(serve, store, place, await place.read());
  // The last moment at which a page that is reloaded or put away can write.
  window.addEventListener('pagehide', () => room.list.save());
  window.addEventListener('pageshow', ({ persisted }) => {
    if (persisted) void room.list.refresh();
  });
  takeLink(room);
  return room;
}

/** Opens the chat that the address brings, once: a reload brings no second one. */
function takeLink(room: ChatRoom): void {
  const read = readChat(location.hash);
  if (!read) return;
  const { model: linkedModel } = readPermalink(location.hash);
  history.replaceState(history.state, '', location.pathname + location.search);
  if ('code' in read) room.store.setState({ error: read });
  else {
    room.store.setState({ linkedModel, columns: [] });
    room.list.addChat(read);
  }
}
