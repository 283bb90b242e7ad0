import { ErrorLine } from '../parts/error-line.tsx';
import { formatCount } from '../parts/format.ts';
import { LoadNote } from '../compose/load-note.tsx';
import { activeExchange } from './chats.ts';
import { MessageBox } from './message-box.tsx';
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
        {!error && <LoadNote />}
      </div>
    </section>
  );
}
