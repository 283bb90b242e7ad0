import { memo, useId } from 'react';

import { formatCount } from '../format.ts';
import { ScrollBox } from '../scroll-box.tsx';
import { activeExchange, type Chat } from './chats.ts';
import { ExchangeView } from './exchange-view.tsx';
import { IconButton } from './icon-button.tsx';
import { MessageBox } from './message-box.tsx';
import { useRoom, useRoomView } from './room-context.ts';
import { parseAnswer } from './thought.ts';
import { useCanChat } from './use-can-chat.ts';

interface ChatColumnProps {
  readonly chat: Chat;
  readonly isOnly: boolean;
}

/** Renders when a message is sent or an answer ends. Tokens are drawn beside React. */
export const ChatColumn = memo(function ChatColumn({ chat, isOnly }: ChatColumnProps) {
  const room = useRoom();
  const canChat = useCanChat();
  const titleId = useId();
  const { id, exchanges } = chat;
  const name = `Chat ${chat.ordinal}`;
  const isActive = activeExchange(chat) !== undefined;
  return (
    <li className="chat" aria-labelledby={titleId} data-active={isActive}>
      <div className="chat-head">
        <h3 id={titleId}>{name}</h3>
        {!isOnly && (
          <IconButton
            label={`Close ${name}`}
            hint="Close"
            path="M4 4l8 8M12 4l-8 8"
            onClick={() => room.closeChat(id)}
          />
        )}
      </div>
      <OwnSystemPrompt chat={chat} name={name} />
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

function OwnSystemPrompt({ chat, name }: NamedChatProps) {
  const room = useRoom();
  const defaultText = useRoomView((view) => view.systemPrompt);
  const { id, systemPrompt } = chat;
  return (
    <details className="chat-system note">
      <summary>
        System prompt: <span>{(systemPrompt ?? defaultText) || 'none'}</span>
      </summary>
      <textarea
        aria-label={`System prompt of ${name}`}
        rows={3}
        value={systemPrompt ?? ''}
        placeholder={defaultText}
        onChange={({ target: { value } }) => room.setOwnSystemPrompt(id, value === '' ? undefined : value)}
      />
    </details>
  );
}

/** The longest part of an answer that is announced. */
const MAX_ANNOUNCED = 300;

/** Announced once, at the end: a screen reader doesn't read every token. */
function EndMessage({ chat, name }: NamedChatProps) {
  const last = chat.exchanges.at(-1);
  const end = last?.requestId && last.end;
  const { text } = parseAnswer(last?.answer ?? '');
  const start = text.length > MAX_ANNOUNCED ? `${text.slice(0, MAX_ANNOUNCED)}…` : text;
  return (
    <output className="visually-hidden">
      {end ? `${name} answered with ${formatCount(end.numOutputTokens)} tokens. ${start}` : ''}
    </output>
  );
}
