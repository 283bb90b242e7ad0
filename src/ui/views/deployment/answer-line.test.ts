import { describe, expect, it } from 'vitest';

import type { AnswerView } from '../../state/answer-view.ts';
import type { BatchView } from '../../state/batch-view.ts';
import { describeAnswers } from './answer-line.ts';
import { createBatch, idOf } from '../../testing/test-support.ts';

function answer(change: Partial<AnswerView> = {}): AnswerView {
  return {
    id: idOf('a'),
    deployment: 'adder',
    ordinal: 1,
    status: 'answered',
    input: 3,
    result: 4,
    submittedAtMs: 1000,
    clientLatencyMs: 212,
    ...change,
  };
}

/** Cut at the time, on this tab's clock. */
function batchCutAt(cutAtMs: number): BatchView {
  return { ...createBatch(), endedAtMs: cutAtMs + 200, ranAlone: true };
}

describe('the answer beside Send', () => {
  it('is empty before anything is sent', () => {
    expect(describeAnswers([], [])).toBe('');
  });

  it('has question, answer and time of one query', () => {
    expect(describeAnswers([answer()], [])).toBe('3 → 4 in 212 ms');
  });

  it('leaves out a long question', () => {
    const house = { deployment: 'house-price', input: [120, 3, 2, 25, 8, 450, 0.6, 1], result: 478_172 };
    expect(describeAnswers([answer(house)], [])).toBe('€478,172 in 212 ms');
  });

  it('says how many are still to come', () => {
    const waiting = answer({ status: 'waiting' });
    expect(describeAnswers([waiting], [])).toBe('Waiting for an answer');
    expect(describeAnswers([answer(), waiting, waiting], [])).toBe('Waiting for 2 answers');
  });

  it('takes the time from the first query to the last answer, and the batches cut in it', () => {
    const answers = [answer(), answer({ submittedAtMs: 1040, clientLatencyMs: 400 })];
    const batches = [900, 1000, 1200, 1500].map(batchCutAt);
    expect(describeAnswers(answers, batches)).toBe('2 answers in 440 ms, 2 batches');
    expect(describeAnswers(answers, batches.slice(0, 2))).toBe('2 answers in 440 ms, 1 batch');
  });

  it('doesn’t count more batches than the page keeps', () => {
    const batches = Array.from({ length: 20 }, () => batchCutAt(1100));
    expect(describeAnswers([answer(), answer()], batches)).toContain('20 or more batches');
  });

  it('says which queries got no answer', () => {
    expect(describeAnswers([answer({ status: 'failed' })], [])).toBe('Failed after 212 ms');
    expect(describeAnswers([answer({ status: 'cancelled' })], [])).toBe('Cancelled');
    const answers = [answer(), answer({ status: 'failed' }), answer({ status: 'cancelled' })];
    expect(describeAnswers(answers, [])).toBe('1 answer in 212 ms, 0 batches, 1 failed, 1 cancelled');
  });
});
