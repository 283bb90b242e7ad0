import { openModelBox } from '../header/open-model-box.ts';
import { Button } from '../parts/button.tsx';
import { ErrorLine } from '../parts/error-line.tsx';
import { formatCount } from '../parts/format.ts';
import { LoadNote } from '../compose/load-note.tsx';
import { activeExchange } from './chats.ts';
import { MessageBox } from './message-box.tsx';
import { useServeView } from '../state/serve-context.ts';
import { useCanChat, useRoom, useRoomView } from './room-context.ts';

/** A question that nobody has asked yet. */
const STARTER = 'Why is the sky blue?';

/** One message for all chats: their answers run in one batch. */
export function AskPanel() {
  const room = useRoom();
  const numChats = useRoomView(({ chats }) => chats.length);
  const isActive = useRoomView(({ chats }) => chats.some(activeExchange));
  const isNew = useRoomView(({ chats }) => chats.every(({ exchanges }) => exchanges.length === 0));
  const error = useRoomView((view) => view.error);
  const canChat = useCanChat();
  const baseModel = useServeView(({ status }) =>
    status.model?.hasChatTemplate ? undefined : status.model?.id,
  );
  return (
    <section className="ask-all" aria-label="Message to all chats">
      <MessageBox
        label="Message to all chats"
        placeholder="Ask all chats…"
        initialText={isNew ? STARTER : ''}
        sendLabel={numChats === 1 ? 'Ask the chat' : `Ask all ${formatCount(numChats)} chats at once`}
        isPrimary
        canSend={canChat}
        onSend={(text) => room.askAll(text)}
        onStop={isActive ? () => room.stopAll() : undefined}
        stopLabel="Stop all"
      />
      <div className="compose-note">
        <div role="alert">{error && <ErrorLine error={error} />}</div>
        {!error && !canChat && baseModel !== undefined ? <CannotChat model={baseModel} /> : <LoadNote />}
      </div>
    </section>
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
