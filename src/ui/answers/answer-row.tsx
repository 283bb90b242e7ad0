import { memo } from 'react';

import type { RequestId } from '../../worker/protocol/protocol.ts';
import { ErrorLine } from '../error-line.tsx';
import { formatMs } from '../format.ts';
import { useServeView } from '../state/serve-context.ts';
import { describeInput, describeResult } from './describe-answer.ts';

/** A longer one gets a line of its own. */
const MAX_SHORT_INPUT = 16;

interface AnswerRowProps {
  readonly deployment: string;
  readonly id: RequestId;
}

/** Selects its own request alone: an answer renders one row. */
export const AnswerRow = memo(function AnswerRow({ deployment, id }: AnswerRowProps) {
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
