import { memo, useRef, useState } from 'react';

import { Button } from '../../parts/button.tsx';
import { formatCount } from '../../parts/format.ts';
import { IconButton } from '../../parts/icon-button.tsx';
import { cutOf } from '../../panels/requests/describe-request.ts';
import { AnswerPart, type ExchangeProps } from './answer-part.tsx';
import { shownAnswer } from './chats.ts';
import { formatTime } from './format-time.ts';
import { MessageBox } from './message-box.tsx';
import { useCanChat, useIsAnswering, useRoom } from './room-context.ts';
import { shorten } from './shorten.ts';

const EDIT_PATH = 'M10.5 3l2.5 2.5L6 12.5l-3 .5.5-3zM9 4.5L11.5 7';

export const ExchangeView = memo(function ExchangeView({ chatId, exchange, isLast }: ExchangeProps) {
  const [isEditing, setIsEditing] = useState(false);
  const itemRef = useRef<HTMLLIElement>(null);
  const room = useRoom();
  const { id, question, askedAtMs } = exchange;
  const { requestId, end, shape } = shownAnswer(exchange);
  const isAnswering = useIsAnswering(chatId);
  // The pressed button disappears, so the exchange takes the focus.
  const askAgain = (text: string): boolean => {
    const isSent = room.ask(chatId, text, id);
    if (isSent) leaveEditor();
    return isSent;
  };
  const leaveEditor = (): void => {
    itemRef.current?.focus();
    setIsEditing(false);
  };
  return (
    <li
      className="exchange"
      ref={itemRef}
      data-request-id={requestId}
      data-status={end?.status ?? 'running'}
      data-cut={end && cutOf(end, end.contextLength)}
      tabIndex={-1}
    >
      {isEditing && !isAnswering ? (
        <QuestionEditor question={question} isLast={isLast} onSend={askAgain} onCancel={leaveEditor} />
      ) : (
        <div className="question stack tight rounded">
          <QuestionText question={question} />
          <time className="question-time note" dateTime={new Date(askedAtMs).toISOString()}>
            {formatTime(askedAtMs)}
          </time>
          <IconButton
            label={`Edit “${shorten(question)}”`}
            hint={isLast ? 'Edit' : 'Edit, and take away what follows'}
            path={EDIT_PATH}
            disabled={isAnswering}
            onClick={() => setIsEditing(true)}
          />
        </div>
      )}
      <AnswerPart
        key={String(shape !== undefined)}
        chatId={chatId}
        exchange={exchange}
        isLast={isLast}
        onAskAgain={() => itemRef.current?.focus()}
      />
    </li>
  );
});

/** A longer message is folded, in characters. */
const MAX_UNFOLDED = 2000;

function QuestionText({ question }: { readonly question: string }) {
  const [isWhole, setIsWhole] = useState(false);
  const isFolded = question.length > MAX_UNFOLDED && !isWhole;
  return (
    <p>
      <span className="visually-hidden">You: </span>
      {isFolded ? `${question.slice(0, MAX_UNFOLDED / 4)}… ` : question}
      {isFolded && (
        <Button variant="quiet" onClick={() => setIsWhole(true)}>
          Show all {formatCount(question.length)} characters
        </Button>
      )}
    </p>
  );
}

interface QuestionEditorProps {
  readonly question: string;
  readonly isLast: boolean;
  readonly onSend: (text: string) => boolean;
  readonly onCancel: () => void;
}

function QuestionEditor({ question, isLast, onSend, onCancel }: QuestionEditorProps) {
  const [text, setText] = useState(question);
  const isEmpty = text.trim() === '';
  const replaced = isLast ? 'Replaces the answer.' : 'Replaces all that follows.';
  return (
    <div>
      <MessageBox
        label="Edit the message"
        text={text}
        onChange={setText}
        isFocused
        sendLabel="Ask again"
        canSend={useCanChat()}
        onSend={onSend}
        onCancel={onCancel}
      >
        <Button variant="quiet" onClick={onCancel}>
          Cancel
        </Button>
        <output className="note">{isEmpty ? 'Write a message, or cancel.' : replaced}</output>
      </MessageBox>
    </div>
  );
}
