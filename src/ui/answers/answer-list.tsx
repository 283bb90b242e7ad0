import type { RequestId } from '../../worker/protocol/protocol.ts';
import { Button } from '../button.tsx';
import { formatCount } from '../format.ts';
import { useServe, useServeView } from '../state/serve-context.ts';
import { clearAnswers } from '../state/serve-store.ts';
import type { ServeView } from '../state/serve-store.ts';
import './answer-list.css';
import { AnswerRow } from './answer-row.tsx';
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
    <section className="panel answers" aria-labelledby="answers-title">
      <div className="answers-head">
        <h2 id="answers-title">Answers</h2>
        <span className="muted">{ids.length > 0 && describeCounts(numSettled, numWaiting)}</span>
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
        {ids.length === 0 && <p className="empty-note">No query yet: each one sent gets a row here.</p>}
      </ScrollBox>
      <div className="answers-actions">
        <Button look="quiet" disabled={numWaiting === 0} onClick={cancelWaiting}>
          Cancel waiting
        </Button>
        <Button look="quiet" disabled={numSettled === 0} onClick={() => clearAnswers(store, deployment)}>
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
