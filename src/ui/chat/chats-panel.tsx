import { lazy, Suspense, useId, useState } from 'react';

import { Button } from '../parts/button.tsx';
import { followHighlights } from '../requests/highlight-cells.ts';
import { useServeView } from '../state/serve-context.ts';
import { ChatColumn } from './chat-column.tsx';
import { useRoom, useRoomView } from './room-context.ts';

const ChatModels = lazy(async () => ({ default: (await import('./chat-models.tsx')).ChatModels }));

export function ChatsPanel() {
  const room = useRoom();
  const titleId = useId();
  const [newId, setNewId] = useState<string>();
  const chats = useRoomView((view) => view.chats);
  const isEmpty = chats.every(({ exchanges }) => exchanges.length === 0);
  const isBaseModel = useServeView(({ status }) => status.model?.hasChatTemplate === false);

  const isWithoutChats = isBaseModel && isEmpty;

  return (
    <section className="chats-panel" aria-labelledby={titleId} ref={followHighlights}>
      <div className="row">
        <h2 id={titleId}>Chats</h2>
        {!isWithoutChats && (
          <Button variant="small" onClick={() => setNewId(room.newChat())}>
            New chat
          </Button>
        )}
      </div>
      {isBaseModel && (
        <Suspense>
          <ChatModels />
        </Suspense>
      )}
      {!isWithoutChats && (
        <ul className="chats" aria-labelledby={titleId}>
          {chats.map((chat) => (
            <ChatColumn key={chat.id} chat={chat} isOnly={chats.length === 1} isNew={chat.id === newId} />
          ))}
        </ul>
      )}
    </section>
  );
}
