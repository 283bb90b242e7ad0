import { describe, expect, it } from 'vitest';
import { Sequence, type SequenceLimits } from './sequence.ts';
import { createRequest, EOS, type RequestOverrides } from './test-support.ts';

const LIMITS: SequenceLimits = { contextLength: 8, eosTokenIds: new Set([EOS]) };

/** A sequence whose prompt is computed, with tokens appended 10 ms apart from 100 ms on. */
function createSequence(request: RequestOverrides, ...tokenIds: readonly number[]): Sequence {
  const sequence = new Sequence(createRequest('a', request), 70);
  sequence.numComputedTokens = sequence.numPromptTokens;
  tokenIds.forEach((tokenId, index) => sequence.append(tokenId, 100 + 10 * index, LIMITS));
  return sequence;
}

describe('Sequence', () => {
  it('feeds its prompt in chunks, then its last token', () => {
    const sequence = new Sequence(createRequest('a', { promptTokenIds: [5, 6, 7] }), 0);
    expect(sequence.nextTokenIds(2)).toEqual([5, 6]);
    sequence.numComputedTokens = 2;
    expect(sequence.nextTokenIds(2)).toEqual([7]);
    sequence.numComputedTokens = 3;
    sequence.append(9, 0, LIMITS);
    expect(sequence.nextTokenIds(2)).toEqual([9]);
  });

  it('goes on while there is room', () => {
    const sequence = createSequence({ promptLength: 3, maxNewTokens: 3 }, 11, 12);
    expect(sequence.finishReason).toBeUndefined();
    expect(sequence.outputTokenIds).toEqual([11, 12]);
  });

  it('finishes with length at maxNewTokens', () => {
    const sequence = createSequence({ promptLength: 3, maxNewTokens: 2 }, 11, 12);
    expect(sequence.finishReason).toBe('length');
    expect(sequence.numOutputTokens).toBe(2);
  });

  it('finishes with length when prompt and output fill the context', () => {
    const sequence = createSequence({ promptLength: 6, maxNewTokens: 100 }, 11, 12);
    expect(sequence.finishReason).toBe('length');
    expect(sequence.tokens.length).toBe(8);
  });

  it('finishes with stop at the end token, which it counts but does not show', () => {
    const sequence = createSequence({ maxNewTokens: 2 }, 11, EOS);
    expect(sequence.finishReason).toBe('stop');
    expect(sequence.outputTokenIds).toEqual([11]);
    expect(sequence.numOutputTokens).toBe(2);
  });

  it('measures from its arrival, and from token to token', () => {
    const sequence = createSequence({ maxNewTokens: 4 });
    sequence.start(75);
    sequence.append(11, 100, LIMITS);
    expect([sequence.queueWaitMs, sequence.ttftMs, sequence.itlMs]).toEqual([5, 30, 0]);
    sequence.append(12, 104, LIMITS);
    sequence.append(13, 111, LIMITS);
    expect([sequence.queueWaitMs, sequence.ttftMs, sequence.itlMs]).toEqual([5, 30, 7]);
  });

  it('counts the tokens of its prompt as seen, and each time that one is in the output', () => {
    const sequence = new Sequence(createRequest('a', { promptTokenIds: [5, 6, 5] }), 0);
    const { tokenCounts } = sequence;
    for (const tokenId of [6, 9, 6, EOS]) sequence.append(tokenId, 0, LIMITS);
    expect([...tokenCounts]).toEqual([
      [5, 0],
      [6, 2],
      [9, 1],
    ]);
    expect(sequence.tokenCounts).toBe(tokenCounts);
  });

  it('rejects the question for a slot while it waits', () => {
    const sequence = new Sequence(createRequest('a'), 0);
    expect(() => sequence.slot).toThrow('Sequence a is waiting: it has no slot yet.');
  });
});
