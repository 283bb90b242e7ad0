import { openModelBox } from '../../panels/models/open-model-box.ts';
import { Button } from '../../parts/button.tsx';
import { ErrorLine } from '../../parts/error-line.tsx';
import { formatCount } from '../../parts/format.ts';
import { LoadNote } from '../../panels/compose/load-note.tsx';
import { activeExchange } from './chats.ts';
import { MessageBox } from './message-box.tsx';
import { useServeView } from '../../state/serve-context.ts';
import { useCanChat, useRoom, useRoomView } from './room-context.ts';
import { ALL } from './room-view.ts';

/** One message for all columns: their answers run in one batch. A single chat has a box of its own. */
export function AskPanel() {
  const numColumns = useRoomView(({ columns }) => columns.length);
  const error = useRoomView((view) => view.error);
  const canChat = useCanChat();
  const baseModel = useServeView(({ status }) =>
    status.model?.hasChatTemplate ? undefined : status.model?.id,
  );
  return (
    <section className="ask-all" aria-label="Message to all chats">
      {numColumns !== 1 && <AskBox numColumns={numColumns} />}
      <div className="compose-note">
        <div role="alert">{error && <ErrorLine error={error} />}</div>
        {!error && !canChat && baseModel !== undefined ? <CannotChat model={baseModel} /> : <LoadNote />}
      </div>
    </section>
  );
}

function AskBox({ numColumns }: { readonly numColumns: number }) {
  const room = useRoom();
  const text = useRoomView(({ drafts }) => drafts[ALL] ?? '');
  const isActive = useRoomView(({ chats, columns }) =>
    columns.some((id) => {
      const chat = chats.get(id);
      return chat && activeExchange(chat);
    }),
  );
  const isNew = numColumns === 0;
  return (
    <MessageBox
      label={isNew ? 'Message to a new chat' : 'Message to all chats'}
      placeholder={isNew ? 'Ask a new chat…' : 'Ask all chats…'}
      text={text}
      onChange={(next) => room.setDraft(ALL, next)}
      sendLabel={isNew ? 'Start a new chat' : `Ask all ${formatCount(numColumns)} chats at once`}
      isPrimary
      canSend={useCanChat()}
      onSend={(sent) => room.askAll(sent)}
      onStop={isActive ? () => room.stopAll() : undefined}
      stopLabel="Stop all"
    />
  );
}

/** Why the buttons are gray. */
function CannotChat({ model }: { readonly model: string }) {
  return (
    <p className="note">
      {model} can’t chat: it only continues texts.{' '}
      <Button variant="quiet" onClick={openModelBox}>
        Choose a model…
      </Button>
    </p>
  );
}
