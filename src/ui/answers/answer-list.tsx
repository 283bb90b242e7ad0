import { memo } from 'react';

import type { RequestId } from '../../worker/protocol/ids.ts';
import { Button } from '../button.tsx';
import { describeHouse } from '../deployments/house-features.ts';
import { ErrorLine } from '../error-line.tsx';
import { formatCount, formatEuros, formatJson, formatMs } from '../format.ts';
import { useServe, useServeView } from '../state/serve-context.ts';
import { clearAnswers } from '../state/serve-store.ts';
import type { ServeView } from '../state/serve-store.ts';
import './answer-list.css';
import { ScrollBox } from '../scroll-box.tsx';

const NO_IDS: readonly RequestId[] = [];

/** In the caller's order, not that of the answers. The end stays in view while the list grows. */
export function AnswerList({ deployment }: { readonly deployment: string }) {
  const { serve, store } = useServe();
  const ids = useServeView((view) => view.answerLogs.get(deployment)?.answerIds ?? NO_IDS);
  const numWaiting = useServeView((view) => countWaiting(view, deployment));
  const numSettled = ids.length - numWaiting;

  const cancelWaiting = (): void => {
    for (const { id, status } of store.getState().answerLogs.get(deployment)?.answers.values() ?? []) {
      if (status === 'waiting') serve.cancel(id);
    }
  };

  return (
    <section className="panel" aria-labelledby="answers-title">
      <div className="answers-head">
        <h2 id="answers-title">Answers</h2>
        <span className="muted">{ids.length > 0 && describeCounts(numSettled, numWaiting)}</span>
        <output className="visually-hidden">
          {numWaiting === 0 && numSettled > 0 ? `All queries are settled: ${numSettled}.` : ''}
        </output>
      </div>
      <ScrollBox label="List of answers">
        <ol aria-labelledby="answers-title">
          {ids.map((id) => (
            <AnswerRow key={id} deployment={deployment} id={id} />
          ))}
        </ol>
        {ids.length === 0 && <p className="empty-note">No query yet: each one sent gets a row here.</p>}
      </ScrollBox>
      <div className="answers-actions">
        <Button variant="quiet" disabled={numWaiting === 0} onClick={cancelWaiting}>
          Cancel waiting
        </Button>
        <Button variant="quiet" disabled={numSettled === 0} onClick={() => clearAnswers(store, deployment)}>
          Clear settled
        </Button>
      </div>
    </section>
  );
}

function countWaiting({ answerLogs }: ServeView, deployment: string): number {
  let numWaiting = 0;
  for (const { status } of answerLogs.get(deployment)?.answers.values() ?? []) {
    if (status === 'waiting') numWaiting += 1;
  }
  return numWaiting;
}

function describeCounts(numSettled: number, numWaiting: number): string {
  const settled = `${formatCount(numSettled)} settled`;
  return numWaiting === 0 ? settled : `${settled}, ${formatCount(numWaiting)} waiting`;
}

/** A longer input gets a line of its own. */
const MAX_SHORT_INPUT = 16;

interface AnswerRowProps {
  readonly deployment: string;
  readonly id: RequestId;
}

/** Selects its own request, so that an answer renders one row. */
const AnswerRow = memo(function AnswerRow({ deployment, id }: AnswerRowProps) {
  const answer = useServeView((view) => view.answerLogs.get(deployment)?.answers.get(id));
  if (!answer) return null;
  const { ordinal, status, input, result, clientLatencyMs, error } = answer;
  const inputText = describeInput(deployment, input);
  return (
    <li className="answer" data-request-id={id} data-status={status}>
      <span className="answer-ordinal">#{ordinal}</span>
      <span className="answer-input" data-long={inputText.length > MAX_SHORT_INPUT}>
        {inputText}
      </span>
      <span className="answer-result" data-testid="answer-result">
        {status === 'answered' ? describeResult(deployment, result) : status}
      </span>
      <span className="answer-latency">{clientLatencyMs !== undefined && formatMs(clientLatencyMs)}</span>
      {error && <ErrorLine error={error} />}
    </li>
  );
});

function describeInput(deployment: string, input: unknown): string {
  return deployment === 'house-price' && isNumberList(input) ? describeHouse(input) : formatJson(input);
}

function describeResult(deployment: string, result: unknown): string {
  return deployment === 'house-price' && typeof result === 'number'
    ? formatEuros(result)
    : formatJson(result);
}

function isNumberList(input: unknown): input is readonly number[] {
  return Array.isArray(input) && input.every((value) => typeof value === 'number');
}
