import { lazy, Suspense, useLayoutEffect, useRef } from 'react';

import { Button } from '../../parts/button.tsx';
import { ErrorLine } from '../../parts/error-line.tsx';
import { IconButton } from '../../parts/icon-button.tsx';
import { cutOf } from '../../panels/requests/describe-request.ts';
import { useCopy } from '../../parts/use-copy.ts';
import { useIsServer, useServe, useServeView } from '../../state/serve-context.ts';
import { answerOf, shownAnswer, type Answer, type Exchange } from './chats.ts';
import { drawAnswer } from './draw-answer.ts';
import { codeToCopy } from './markdown-text.ts';
import './markdown-text.css';
import { useCanChat, useIsAnswering, useRoom } from './room-context.ts';
import { shorten } from './shorten.ts';

const ShapedAnswer = lazy(async () => ({
  default: (await import('../../panels/shapes/shaped-answer.tsx')).ShapedAnswer,
}));

const AGAIN_PATH = 'M12.5 9.5a5 5 0 1 1-.6-4.2M12.5 2.5v3h-3';
const COPY_PATH = 'M6 5.5h6.5V13H6zM10 5.5V3H3.5v7.5H6';

export interface ExchangeProps {
  readonly chatId: string;
  readonly exchange: Exchange;
  /** A change of an earlier exchange removes all after it. */
  readonly isLast: boolean;
}

interface AnswerPartProps extends ExchangeProps {
  /** The pressed button disappears. */
  readonly onAskAgain: () => void;
}

/** The text and its figures are drawn without React, as they grow with each token. */
export function AnswerPart(props: AnswerPartProps) {
  const { exchange } = props;
  const { store } = useServe();
  const { said, copy } = useCopy();
  const answerRef = useRef<HTMLDivElement>(null);
  const answer = shownAnswer(exchange);

  useLayoutEffect(
    () => (answerRef.current ? drawAnswer(answerRef.current, answer, store) : undefined),
    [answer, store],
  );

  // The buttons of code blocks are drawn without React, too. A key presses them by a click.
  useLayoutEffect(() => {
    const element = answerRef.current;
    const copyCode = ({ target }: Event): void => {
      const code = codeToCopy(target);
      if (code !== undefined) void copy(code, 'Code copied');
    };
    element?.addEventListener('click', copyCode);
    return () => element?.removeEventListener('click', copyCode);
  });

  return (
    <div className="answer" ref={answerRef} aria-busy={!answer.end}>
      <details className="thought note">
        <summary>Thoughts</summary>
        <p className="thought-text given-text" />
      </details>
      {answer.shape ? (
        <Suspense>
          <GrowingShape answer={answer} shape={answer.shape} />
        </Suspense>
      ) : (
        <div className="answer-text stack" data-testid="answer-text" />
      )}
      {answer.end?.error && <ErrorLine error={answer.end.error} />}
      <div className="answer-foot ground cluster tight">
        <p className="answer-figures note" />
        {answer.end && (
          <div className="row tight">
            <AnswerActs {...props} answer={answer} />
            <IconButton
              label={`Copy the answer to “${shorten(exchange.question)}”`}
              hint="Copy"
              path={COPY_PATH}
              onClick={() => void copy(answer.text, 'Copied')}
            />
          </div>
        )}
        <output className="answer-said paper note">{said}</output>
      </div>
    </div>
  );
}

function GrowingShape({ answer, shape }: { readonly answer: Answer; readonly shape: string }) {
  const { text, end, requestId } = answer;
  const growing = useServeView(({ requests }) => {
    const request = requestId === undefined || end ? undefined : requests.get(requestId);
    return request && answerOf(request);
  });
  return <ShapedAnswer shape={shape} text={growing ?? text} probabilities={end?.choiceProbabilities} />;
}

/** Goes on, shows another version, asks again. */
function AnswerActs(props: AnswerPartProps & { readonly answer: Answer }) {
  const { chatId, exchange, isLast, onAskAgain, answer } = props;
  const room = useRoom();
  const isAnswering = useIsAnswering(chatId);
  const canAsk = useCanChat() && !isAnswering;
  const isServer = useIsServer();
  const { end, text, shape } = answer;
  const isStopped = end?.status === 'cancelled' && text !== '';
  const isCut = isStopped || (end && cutOf(end, end.contextLength) === 'limit');
  // A shape begins anew, and the tokens of a thought aren't kept.
  const canContinue = !isServer && shape === undefined && end?.thought === undefined;
  return (
    <>
      {isLast && isCut && canContinue && (
        <Button
          variant="quiet"
          disabled={!canAsk}
          aria-label={`Continue the answer to “${shorten(exchange.question)}”`}
          onClick={() => {
            onAskAgain();
            void room.continueAnswer(chatId, exchange);
          }}
        >
          Continue
        </Button>
      )}
      <Versions chatId={chatId} exchange={exchange} />
      <IconButton
        label={`Regenerate the answer to “${shorten(exchange.question)}”`}
        hint={isLast ? 'Regenerate' : 'Regenerate, and take away what follows'}
        path={AGAIN_PATH}
        disabled={!canAsk}
        onClick={() => {
          if (room.regenerate(chatId, exchange)) onAskAgain();
        }}
      />
    </>
  );
}

/** `2/3` between two arrows, where an answer has several versions. */
function Versions({ chatId, exchange }: Pick<ExchangeProps, 'chatId' | 'exchange'>) {
  const room = useRoom();
  const { id, answers, shown } = exchange;
  if (answers.length === 1) return null;
  const show = (index: number): void => room.list.show(chatId, id, index);
  return (
    <fieldset className="versions row" aria-label="Versions of the answer">
      <IconButton
        label="Previous version"
        hint="Previous version"
        path="M10 3.5L5.5 8l4.5 4.5"
        disabled={shown === 0}
        onClick={() => show(shown - 1)}
      />
      <span className="note">
        {shown + 1}/{answers.length}
      </span>
      <IconButton
        label="Next version"
        hint="Next version"
        path="M6 3.5L10.5 8 6 12.5"
        disabled={shown === answers.length - 1}
        onClick={() => show(shown + 1)}
      />
    </fieldset>
  );
}
