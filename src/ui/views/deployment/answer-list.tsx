import { memo } from 'react';
import { useShallow } from 'zustand/shallow';

import type { RequestId } from '../../../client/index.ts';
import { Button } from '../../parts/button.tsx';
import { ErrorLine } from '../../parts/error-line.tsx';
import { formatMs } from '../../parts/format.ts';
import { Panel } from '../../parts/panel.tsx';
import type { AnswerView } from '../../state/answer-view.ts';
import { useServe, useServeView } from '../../state/serve-context.ts';
import { clearAnswers, type ServeView } from '../../state/serve-store.ts';
import './answer-list.css';
import { describeCounts, describeInput, describeResult } from './describe-answer.ts';
import { ScrollBox } from '../../parts/scroll-box.tsx';

/** In the order of the queries, not of the answers. The end stays in view while the list grows. */
export function AnswerList({ deployment }: { readonly deployment: string }) {
  const { serve, store } = useServe();
  const ids = useServeView(useShallow((view) => answersOf(view, deployment).map(({ id }) => id)));
  const numWaiting = useServeView((view) => waitingOf(view, deployment).length);
  const numSettled = ids.length - numWaiting;

  const cancelWaiting = (): void => {
    for (const { id } of waitingOf(store.getState(), deployment)) serve.cancel(id);
  };

  const head = <span className="muted">{ids.length > 0 && describeCounts(numSettled, numWaiting)}</span>;
  return (
    <Panel title="Answers" head={head}>
      <ScrollBox label="List of answers">
        <ol aria-label="Answers">
          {ids.map((id) => (
            <AnswerRow key={id} id={id} />
          ))}
        </ol>
        {ids.length === 0 && <p className="empty-note">Each query appears here with its answer.</p>}
      </ScrollBox>
      <div className="actions">
        <Button variant="quiet" disabled={numWaiting === 0} onClick={cancelWaiting}>
          Cancel waiting
        </Button>
        <Button variant="quiet" disabled={numSettled === 0} onClick={() => clearAnswers(store, deployment)}>
          Clear settled
        </Button>
      </div>
    </Panel>
  );
}

function answersOf({ answers }: ServeView, name: string): readonly AnswerView[] {
  return [...answers.values()].filter(({ deployment }) => deployment === name);
}

function waitingOf(view: ServeView, deployment: string): readonly AnswerView[] {
  return answersOf(view, deployment).filter(({ status }) => status === 'waiting');
}

/** A longer input gets a line of its own. */
const MAX_SHORT_INPUT = 16;

/** Selects its own request, so that an answer renders one row. */
const AnswerRow = memo(function AnswerRow({ id }: { readonly id: RequestId }) {
  const answer = useServeView((view) => view.answers.get(id));
  if (!answer) return null;
  const { deployment, ordinal, status, input, result, clientLatencyMs, error } = answer;
  const inputText = describeInput(deployment, input);
  return (
    <li className="answer-row stack wrap" data-request-id={id} data-status={status}>
      <span className="muted">#{ordinal}</span>
      <span className="answer-input note" data-long={inputText.length > MAX_SHORT_INPUT}>
        {inputText}
      </span>
      <span key={status} className="answer-result strong end" data-testid="answer-result">
        {status === 'answered' ? describeResult(deployment, result) : status}
      </span>
      <span className="end nowrap muted">{clientLatencyMs !== undefined && formatMs(clientLatencyMs)}</span>
      {error && <ErrorLine error={error} />}
    </li>
  );
});
