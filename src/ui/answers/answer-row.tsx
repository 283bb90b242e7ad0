import { memo } from 'react';

import type { RequestId } from '../../worker/protocol/protocol.ts';
import { ErrorLine } from '../error-line.tsx';
import { describeHouse } from '../deployments/house-features.ts';
import { formatEuros, formatJson, formatMs } from '../format.ts';
import { useServeView } from '../state/serve-context.ts';

/** A longer input gets a line of its own. */
const MAX_SHORT_INPUT = 16;

interface AnswerRowProps {
  readonly deployment: string;
  readonly id: RequestId;
}

/** Selects its own request, so that an answer renders one row. */
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
