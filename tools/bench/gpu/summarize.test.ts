import { describe, expect, it } from 'vitest';

import type { Played } from './page/play.ts';
import { checkCounts, summarizeCell } from './summarize.ts';

const tokens = (...tokenMs: number[]) => ({ continuation: { tokenIds: tokenMs.map(() => 1) }, tokenMs });
const played = (...requests: Played['requests'][number][]): Played => ({ wallMs: 1000, requests });

describe('summarizeCell', () => {
  it('counts all prompt tokens until every row has its first token', () => {
    const { tokensPerSecond, ms } = summarizeCell({
      benchCase: { kind: 'prefill', length: 100, rows: 2 },
      contender: 'tabserve',
      runs: [played(tokens(100), tokens(200)), played(tokens(100), tokens(400))],
    });
    expect(tokensPerSecond).toEqual({ median: 750, min: 500, max: 1000 });
    expect(ms).toMatchObject({ count: 4, p50: 150 });
  });

  it('counts new tokens only while all rows decode', () => {
    const { tokensPerSecond, ms } = summarizeCell({
      benchCase: { kind: 'decode', length: 48, rows: 2 },
      contender: 'wllama',
      // The first row decodes alone until 300, the second one after 500.
      runs: [played(tokens(100, 200, 300, 400, 500), tokens(300, 400, 500, 600))],
    });
    expect(tokensPerSecond?.median).toBe(20);
    expect(ms).toMatchObject({ count: 4, p50: 100, p95: 100 });
  });

  it('weighs pieces that hold several tokens', () => {
    const pieces = { continuation: { text: 'abcd', numTokens: 8 }, tokenMs: [0, 100, 200, 300] };
    const { tokensPerSecond } = summarizeCell({
      benchCase: { kind: 'decode', length: 48, rows: 1 },
      contender: 'wllama',
      runs: [played(pieces)],
    });
    expect(tokensPerSecond?.median).toBe(20);
  });

  it('refuses rows that never decode together', () => {
    const measured = {
      benchCase: { kind: 'decode', length: 48, rows: 2 },
      contender: 'wllama',
      runs: [played(tokens(100, 200), tokens(300, 400))],
    } as const;
    expect(() => summarizeCell(measured)).toThrow('decode together');
  });

  it('keeps the reason why a case failed', () => {
    const benchCase = { kind: 'decode', length: 48, rows: 2 } as const;
    expect(summarizeCell({ benchCase, contender: 'wllama', runs: [], failure: 'no memory' })).toEqual({
      ...benchCase,
      contender: 'wllama',
      failure: 'no memory',
    });
  });
});

describe('checkCounts', () => {
  it('refuses an answer of another length', () => {
    const requests = [{ prompt: 'a', maxNewTokens: 2 }];
    expect(() => checkCounts(played(tokens(1, 2)), requests)).not.toThrow();
    expect(() => checkCounts(played(tokens(1)), requests)).toThrow('Expected 2 new tokens, got 1');
    expect(() => checkCounts(played(), requests)).toThrow('got 0');
  });
});
