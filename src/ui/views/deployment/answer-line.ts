import { describeInput, describeResult } from './describe-answer.ts';
import { countOf, formatCount, formatMs } from '../../parts/format.ts';
import type { AnswerStatus, AnswerView } from '../../state/answer-view.ts';
import { MAX_SHOWN_BATCHES, type BatchView } from '../../state/batch-view.ts';

/** A longer input is left out of the line. */
const MAX_SHORT_INPUT = 16;

/**
 * The answers to the queries that were sent together: `3 → 4 in 212 ms`, or `9 answers in 214 ms, 3 batches`.
 *
 * @param batches Those of the deployment; the ones cut for these queries are counted.
 */
export function describeAnswers(answers: readonly AnswerView[], batches: readonly BatchView[]): string {
  const [first] = answers;
  if (!first) return '';
  const numWaiting = count(answers, 'waiting');
  if (numWaiting > 0)
    return `Waiting for ${numWaiting === 1 ? 'an answer' : `${formatCount(numWaiting)} answers`}`;
  return answers.length === 1 ? describeOne(first) : describeSeveral(answers, batches);
}

function describeOne({ deployment, status, input, result, clientLatencyMs }: AnswerView): string {
  if (status === 'cancelled') return 'Cancelled';
  const time = formatMs(clientLatencyMs);
  if (status === 'failed') return `Failed after ${time}`;
  const question = describeInput(deployment, input);
  const arrow = question.length > MAX_SHORT_INPUT ? '' : `${question} → `;
  return `${arrow}${describeResult(deployment, result)} in ${time}`;
}

function describeSeveral(answers: readonly AnswerView[], batches: readonly BatchView[]): string {
  const sentAtMs = Math.min(...answers.map(({ submittedAtMs }) => submittedAtMs));
  const endedAtMs = Math.max(
    ...answers.map(({ submittedAtMs, clientLatencyMs = 0 }) => submittedAtMs + clientLatencyMs),
  );
  const numBatches = batches.filter((batch) => isBetween(batch, sentAtMs, endedAtMs)).length;
  const numAnswered = count(answers, 'answered');
  const parts = [
    `${countOf(numAnswered, 'answer')} in ${formatMs(endedAtMs - sentAtMs)}`,
    `${numBatches}${numBatches === MAX_SHOWN_BATCHES ? ' or more' : ''} ${numBatches === 1 ? 'batch' : 'batches'}`,
  ];
  for (const status of ['failed', 'cancelled'] as const) {
    const number = count(answers, status);
    if (number > 0) parts.push(`${formatCount(number)} ${status}`);
  }
  return parts.join(', ');
}

/** Whether the batch was cut in this time. */
function isBetween({ endedAtMs, executionMs }: BatchView, startMs: number, endMs: number): boolean {
  const cutAtMs = endedAtMs - executionMs;
  return cutAtMs >= startMs && cutAtMs <= endMs;
}

function count(answers: readonly AnswerView[], wanted: AnswerStatus): number {
  return answers.filter(({ status }) => status === wanted).length;
}
