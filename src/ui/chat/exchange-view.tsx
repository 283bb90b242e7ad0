import { lazy, memo, Suspense, useLayoutEffect, useRef, useState, type ReactNode } from 'react';

import { Button } from '../parts/button.tsx';
import { ErrorLine } from '../parts/error-line.tsx';
import { useCopy } from '../share/use-copy.ts';
import { useServe, useServeView } from '../state/serve-context.ts';
import { answerOf, type Exchange } from './chats.ts';
import { drawAnswer } from './draw-answer.ts';
import { IconButton } from '../parts/icon-button.tsx';
import { codeToCopy } from './markdown-text.ts';
import './markdown-text.css';
import { MessageBox } from './message-box.tsx';
import { useCanChat, useRoom } from './room-context.ts';

const ShapedAnswer = lazy(async () => ({
  default: (await import('../shapes/shaped-answer.tsx')).ShapedAnswer,
}));

const EDIT_PATH = 'M10.5 3l2.5 2.5L6 12.5l-3 .5.5-3zM9 4.5L11.5 7';
const AGAIN_PATH = 'M12.5 9.5a5 5 0 1 1-.6-4.2M12.5 2.5v3h-3';
const COPY_PATH = 'M6 5.5h6.5V13H6zM10 5.5V3H3.5v7.5H6';

interface ExchangeProps {
  readonly chatId: string;
  readonly exchange: Exchange;
  /** A change of an earlier exchange removes all after it. */
  readonly isLast: boolean;
}

export const ExchangeView = memo(function ExchangeView({ chatId, exchange, isLast }: ExchangeProps) {
  const [isEditing, setIsEditing] = useState(false);
  const itemRef = useRef<HTMLLIElement>(null);
  const room = useRoom();
  const { id, question, requestId, end } = exchange;
  const isActive = end === undefined;
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
      tabIndex={-1}
    >
      {isEditing && !isActive ? (
        <QuestionEditor question={question} isLast={isLast} onSend={askAgain} onCancel={leaveEditor} />
      ) : (
        <div className="question">
          <p>
            <span className="visually-hidden">You: </span>
            {question}
          </p>
          <IconButton
            label={`Edit “${shorten(question)}”`}
            hint={isLast ? 'Edit' : 'Edit, and take away what follows'}
            path={EDIT_PATH}
            disabled={isActive}
            onClick={() => setIsEditing(true)}
          />
        </div>
      )}
      <Answer key={String(exchange.shape !== undefined)} exchange={exchange}>
        {end && <RegenerateButton question={question} isLast={isLast} onSend={askAgain} />}
      </Answer>
    </li>
  );
});

interface QuestionProps {
  readonly question: string;
  readonly isLast: boolean;
  readonly onSend: (text: string) => boolean;
}

function QuestionEditor(props: QuestionProps & { readonly onCancel: () => void }) {
  const { question, isLast, onSend, onCancel } = props;
  return (
    <>
      <MessageBox
        label="Edit the message"
        initialText={question}
        isFocused
        sendLabel="Ask again"
        canSend={useCanChat()}
        onSend={onSend}
        onCancel={onCancel}
      />
      <p className="note">
        {isLast ? 'Replaces the answer.' : 'Replaces the answer and all that follows.'}{' '}
        <Button variant="quiet" onClick={onCancel}>
          Cancel
        </Button>
      </p>
    </>
  );
}

function RegenerateButton({ question, isLast, onSend }: QuestionProps) {
  return (
    <IconButton
      label={`Regenerate the answer to “${shorten(question)}”`}
      hint={isLast ? 'Regenerate' : 'Regenerate, and take away what follows'}
      path={AGAIN_PATH}
      disabled={!useCanChat()}
      onClick={() => onSend(question)}
    />
  );
}

interface AnswerProps {
  readonly exchange: Exchange;
  /** A button beside the figures. */
  readonly children: ReactNode;
}

/** The text and its figures are drawn without React, as they grow with each token. */
function Answer({ exchange, children }: AnswerProps) {
  const { store } = useServe();
  const { said, copy } = useCopy();
  const answerRef = useRef<HTMLDivElement>(null);
  const error = exchange.end?.error;

  useLayoutEffect(
    () => (answerRef.current ? drawAnswer(answerRef.current, exchange, store) : undefined),
    [exchange, store],
  );

  // The buttons of code blocks are drawn without React, too. A key presses them by a click.
  useLayoutEffect(() => {
    const answer = answerRef.current;
    const copyCode = ({ target }: Event): void => {
      const code = codeToCopy(target);
      if (code !== undefined) void copy(code, 'Code copied');
    };
    answer?.addEventListener('click', copyCode);
    return () => answer?.removeEventListener('click', copyCode);
  });

  return (
    <div className="answer" ref={answerRef} aria-busy={!exchange.end}>
      <details className="thought note">
        <summary>Thoughts</summary>
        <p className="thought-text" />
      </details>
      {exchange.shape ? (
        <Suspense>
          <ShapedExchange exchange={exchange} shape={exchange.shape} />
        </Suspense>
      ) : (
        <div className="answer-text" data-testid="answer-text" />
      )}
      {error && <ErrorLine error={error} />}
      <div className="answer-foot">
        <p className="answer-figures note" />
        {children}
        {exchange.end && (
          <IconButton
            label={`Copy the answer to “${shorten(exchange.question)}”`}
            hint="Copy"
            path={COPY_PATH}
            onClick={() => void copy(exchange.answer, 'Copied')}
          />
        )}
        <output className="answer-said note">{said}</output>
      </div>
    </div>
  );
}

function ShapedExchange({ exchange, shape }: { readonly exchange: Exchange; readonly shape: string }) {
  const { answer, end, requestId } = exchange;
  const growing = useServeView(({ requests }) => {
    const request = requestId === undefined || end ? undefined : requests.get(requestId);
    return request && answerOf(request);
  });
  return <ShapedAnswer shape={shape} text={growing ?? answer} probabilities={end?.choiceProbabilities} />;
}

/** For the name of a button. */
function shorten(text: string): string {
  return text.length > 40 ? `${text.slice(0, 40)}…` : text;
}
