import { lazy, Suspense, useId, useState } from 'react';

import { Button } from '../../parts/button.tsx';
import { Popover } from '../../parts/popover.tsx';
import { UndoNote } from '../../parts/undo-note.tsx';
import { followHighlights } from '../../panels/requests/highlight-cells.ts';
import { useServeView } from '../../state/serve-context.ts';
import { ChatColumn } from './chat-column.tsx';
import { COMPARED_TEMPERATURES } from './chat-options.ts';
import { isBlank } from './chats.ts';
import { useCanChat, useRoom, useRoomView } from './room-context.ts';
import { ALL, questionOf } from './room-view.ts';

const LinkedModel = lazy(async () => ({
  default: (await import('../../panels/compose/link-note.tsx')).LinkedModel,
}));
const ChatModels = lazy(async () => ({ default: (await import('./chat-models.tsx')).ChatModels }));

interface ChatsPanelProps {
  readonly isFolded: boolean;
  readonly onFold: () => void;
}

export function ChatsPanel({ isFolded, onFold }: ChatsPanelProps) {
  const room = useRoom();
  const titleId = useId();
  const [newId, setNewId] = useState<string>();
  const chats = useRoomView((view) => view.chats);
  const columns = useRoomView((view) => view.columns);
  const undo = useRoomView((view) => view.undo);
  const linkedModel = useRoomView((view) => view.linkedModel);
  const isBaseModel = useServeView(({ status }) => status.model?.hasChatTemplate === false);
  const isWithoutChats = isBaseModel && [...chats.values()].every(isBlank);

  return (
    <section className="chats-panel" aria-labelledby={titleId} ref={followHighlights}>
      <div className="flat cluster">
        <h2 id={titleId}>Chats</h2>
        <UndoNote text={undo?.text} onUndo={() => room.list.undo()} />
        {!isWithoutChats && (
          <>
            <Button variant="quiet" aria-expanded={!isFolded} onClick={onFold}>
              {isFolded ? 'Show charts' : 'Hide charts'}
            </Button>
            <Button variant="small" onClick={() => setNewId(room.list.add())}>
              New chat
            </Button>
            <Popover label="More ways to ask" face="⋯">
              <CompareButton />
            </Popover>
          </>
        )}
      </div>
      {linkedModel !== undefined && (
        <Suspense>
          <LinkedModel linked={linkedModel} />
        </Suspense>
      )}
      {isBaseModel && (
        <Suspense>
          <ChatModels />
        </Suspense>
      )}
      {!isWithoutChats && columns.length === 0 && (
        <p className="note">Open a chat from the list, or start a new one.</p>
      )}
      {!isWithoutChats && (
        <ul className="chats roomy" aria-labelledby={titleId}>
          {columns.flatMap((id, index) => {
            const chat = chats.get(id);
            return chat ? [<ChatColumn key={id} chat={chat} number={index + 1} isNew={id === newId} />] : [];
          })}
        </ul>
      )}
    </section>
  );
}

/** The same question, three settings, one batch. */
function CompareButton() {
  const room = useRoom();
  const canChat = useCanChat();
  const hasQuestion = useRoomView((view) => questionOf(view) !== '');
  const compare = (): void => {
    if (!room.compareTemperatures(questionOf(room.store.getState()))) return;
    room.setDraft(ALL, '');
  };
  return (
    <Button
      variant="quiet"
      disabled={!canChat || !hasQuestion}
      title="Opens three new chats, which answer the same question in one batch"
      onClick={compare}
    >
      Ask at temperatures {COMPARED_TEMPERATURES.join(', ')}
    </Button>
  );
}
