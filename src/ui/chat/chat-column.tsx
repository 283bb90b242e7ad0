import { memo, useId, useState } from 'react';

import { Button } from '../parts/button.tsx';
import { formatCount } from '../parts/format.ts';
import { ScrollBox } from '../parts/scroll-box.tsx';
import { activeExchange, type Chat } from './chats.ts';
import { ExchangeView } from './exchange-view.tsx';
import { IconButton } from '../parts/icon-button.tsx';
import { MessageBox } from './message-box.tsx';
import { useCanChat, useRoom, useRoomView } from './room-context.ts';

interface ChatColumnProps {
  readonly chat: Chat;
  readonly isOnly: boolean;
  /** Its box takes the focus, which brings it into view. */
  readonly isNew: boolean;
}

/** Renders when a message is sent or an answer ends. Tokens are drawn beside React. */
export const ChatColumn = memo(function ChatColumn({ chat, isOnly, isNew }: ChatColumnProps) {
  const room = useRoom();
  const canChat = useCanChat();
  const { id, exchanges } = chat;
  const name = `Chat ${chat.ordinal}`;
  const isActive = activeExchange(chat) !== undefined;
  return (
    <li className="chat" aria-label={name} data-active={isActive}>
      <ChatHead chat={chat} name={name} isOnly={isOnly} />
      <ScrollBox label={`Messages of ${name}`} className="scroll-list chat-log">
        <ol>
          {exchanges.map((exchange, index) => (
            <ExchangeView
              key={exchange.id}
              chatId={id}
              exchange={exchange}
              isLast={index === exchanges.length - 1}
            />
          ))}
        </ol>
      </ScrollBox>
      <MessageBox
        label={`Message to ${name}`}
        placeholder="Message"
        isFocused={isNew}
        sendLabel="Send"
        canSend={canChat}
        onSend={(text) => room.ask(id, text)}
        onStop={isActive ? () => room.stop(id) : undefined}
      />
      <EndMessage chat={chat} name={name} />
    </li>
  );
});

interface NamedChatProps {
  readonly chat: Chat;
  readonly name: string;
}

/** The name, and the system prompt, which is edited below once it is pressed. */
function ChatHead({ chat, name, isOnly }: NamedChatProps & Pick<ChatColumnProps, 'isOnly'>) {
  const room = useRoom();
  const fieldId = useId();
  const [isOpen, setIsOpen] = useState(false);
  const defaultText = useRoomView((view) => view.systemPrompt);
  const { id, systemPrompt } = chat;
  const text = systemPrompt ?? defaultText;
  return (
    <div className="chat-head">
      <h3>{name}</h3>
      <Button
        className="button-quiet chat-system"
        aria-label={`System prompt of ${name}: ${text}`}
        aria-expanded={isOpen}
        aria-controls={fieldId}
        title="System prompt"
        onClick={() => setIsOpen(!isOpen)}
      >
        <span>{text || 'No system prompt'}</span>
      </Button>
      {!isOnly && (
        <IconButton
          label={`Close ${name}`}
          hint="Close"
          path="M4 4l8 8M12 4l-8 8"
          onClick={() => room.closeChat(id)}
        />
      )}
      <textarea
        id={fieldId}
        hidden={!isOpen}
        aria-label={`System prompt of ${name}`}
        rows={3}
        value={systemPrompt ?? ''}
        placeholder={defaultText}
        onChange={({ target: { value } }) => room.setOwnSystemPrompt(id, value === '' ? undefined : value)}
      />
    </div>
  );
}

/** The longest part of an answer that is announced. */
const MAX_ANNOUNCED = 300;

/** Announced once, at the end: a screen reader doesn't read every token. */
function EndMessage({ chat, name }: NamedChatProps) {
  const last = chat.exchanges.at(-1);
  const end = last?.requestId && last.end;
  const text = last?.answer ?? '';
  const start = text.length > MAX_ANNOUNCED ? `${text.slice(0, MAX_ANNOUNCED)}…` : text;
  return (
    <output className="visually-hidden">
      {end ? `${name} answered with ${formatCount(end.numOutputTokens)} tokens. ${start}` : ''}
    </output>
  );
}
