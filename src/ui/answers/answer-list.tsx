import type { RequestId } from '../../worker/protocol/protocol.ts';
import { formatCount } from '../format.ts';
import { useServe, useServeView } from '../state/serve-context.ts';
import { clearAnswers } from '../state/serve-store.ts';
import type { ServeView } from '../state/serve-store.ts';
import './answer-list.css';
import { AnswerRow } from './answer-row.tsx';
import { ScrollBox } from '../scroll-box.tsx';

interface AnswerListProps {
  readonly deployment: string;
}

const NO_IDS: readonly RequestId[] = [];

/** In the caller's order, whatever the order of the answers; the end stays in view while it grows. */
export function AnswerList({ deployment }: AnswerListProps) {
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
    <section className="panel answers" aria-labelledby="answers-title">
      <div className="answers-head">
        <h2 id="answers-title">Answers</h2>
        <span className="answers-count">{ids.length > 0 && describeCounts(numSettled, numWaiting)}</span>
        <output className="visually-hidden">
          {numWaiting === 0 && numSettled > 0 ? `All queries are settled: ${numSettled}.` : ''}
        </output>
      </div>
      <ScrollBox label="List of answers">
        <ol className="answer-list" aria-labelledby="answers-title">
          {ids.map((id) => (
            <AnswerRow key={id} deployment={deployment} id={id} />
          ))}
        </ol>
        {ids.length === 0 && <p className="scroll-box-empty">No query yet: each one sent gets a row here.</p>}
      </ScrollBox>
      <div className="answers-actions">
        <button type="button" className="button-quiet" disabled={numWaiting === 0} onClick={cancelWaiting}>
          Cancel waiting
        </button>
        <button
          type="button"
          className="button-quiet"
          disabled={numSettled === 0}
          onClick={() => clearAnswers(store, deployment)}
        >
          Clear settled
        </button>
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
