import { memo, useRef, useState } from 'react';

import { countOf } from '../../parts/format.ts';
import { ScrollBox } from '../../parts/scroll-box.tsx';
import { Button } from '../../parts/button.tsx';
import { ChatHead } from './chat-head.tsx';
import type { NamedChatProps } from './chat-settings.tsx';
import { activeExchange, shownAnswer, type Chat } from './chats.ts';
import { ExchangeView } from './exchange-view.tsx';
import { IconButton } from '../../parts/icon-button.tsx';
import { MessageBox } from './message-box.tsx';
import { useCanChat, useRoom, useRoomView } from './room-context.ts';

interface ChatColumnProps {
  readonly chat: Chat;
  /** The column's number, from 1. */
  readonly number: number;
  /** Its box takes the focus, which brings it into view. */
  readonly isNew: boolean;
}

const NO_MESSAGES: readonly string[] = [];

/** Renders when a message is sent or an answer ends. Tokens are drawn beside React. */
export const ChatColumn = memo(function ChatColumn({ chat, number, isNew }: ChatColumnProps) {
  const room = useRoom();
  const { id } = chat;
  const name = `Chat ${number}`;
  const isAnswering = activeExchange(chat) !== undefined;
  // Another tab’s answer is stopped there.
  const isOwn = isAnswering && room.isWriting(id);
  const isQueueing = useRoomView(({ queues }) => (queues[id] ?? NO_MESSAGES).length > 0);
  return (
    <li className="chat" aria-label={name} data-active={isAnswering}>
      <ChatHead chat={chat} name={name} />
      <ChatLog chat={chat} name={name} />
      <MessageBox
        label={`Message to ${name}`}
        placeholder="Message"
        text={useRoomView(({ drafts }) => drafts[id] ?? '')}
        onChange={(text) => room.setDraft(id, text)}
        isFocused={isNew}
        sendLabel={isAnswering || isQueueing ? 'Queue' : 'Send'}
        canSend={useCanChat()}
        onSend={(text) => room.ask(id, text)}
        onStop={isOwn ? () => room.stop(id) : undefined}
      />
      <EndMessage chat={chat} name={name} />
    </li>
  );
});

/** How far the end may be below the edge, in CSS pixels, for a reader to count as being there. */
const END_TOLERANCE = 40;

/** The messages, and those that wait. It stays at its end unless the reader scrolls up. */
function ChatLog({ chat: { id, exchanges }, name }: NamedChatProps) {
  const room = useRoom();
  const logRef = useRef<HTMLElement>(null);
  const [isUp, setIsUp] = useState(false);
  const queue = useRoomView(({ queues }) => queues[id] ?? NO_MESSAGES);
  return (
    <div className="chat-middle ground">
      <ScrollBox
        label={`Messages of ${name}`}
        className="scroll-list chat-log"
        ref={logRef}
        // The list is reversed: 0 is its end.
        onScroll={({ currentTarget: { scrollTop } }) => setIsUp(scrollTop < -END_TOLERANCE)}
      >
        <ol>
          {exchanges.map((exchange, index) => (
            <ExchangeView
              key={exchange.id}
              chatId={id}
              exchange={exchange}
              isLast={index === exchanges.length - 1}
            />
          ))}
          {queue.map((text, index) => (
            <li key={index} className="question stack tight rounded queued spaced">
              <p>
                <span className="note">Queued: </span>
                {text}
              </p>
              <IconButton
                label={`Take back “${text.slice(0, 40)}”`}
                hint="Take back"
                path="M4 4l8 8M12 4l-8 8"
                onClick={() => room.takeBack(id, index)}
              />
            </li>
          ))}
        </ol>
      </ScrollBox>
      {isUp && (
        <Button
          className="button-small to-newest"
          onClick={() => {
            logRef.current?.scrollTo({ top: 0 });
            logRef.current?.focus();
          }}
        >
          Newest ↓
        </Button>
      )}
    </div>
  );
}

/** The longest part of an answer that is announced. */
const MAX_ANNOUNCED = 300;

/** Announced once, at the end: a screen reader doesn't read every token. */
function EndMessage({ chat, name }: NamedChatProps) {
  const last = chat.exchanges.at(-1);
  return (
    <output className="visually-hidden">{last ? describeForReaders(name, shownAnswer(last)) : ''}</output>
  );
}

function describeForReaders(name: string, { text, requestId, end }: ReturnType<typeof shownAnswer>): string {
  if (!end || requestId === undefined) return '';
  if (end.status === 'failed') return `${name} failed: ${end.error?.message}`;
  const numTokens = countOf(end.numOutputTokens, 'token');
  const start = text.length > MAX_ANNOUNCED ? `${text.slice(0, MAX_ANNOUNCED)}…` : text;
  const what = end.status === 'cancelled' ? 'was stopped after' : 'answered with';
  return `${name} ${what} ${numTokens}. ${start}`;
}
