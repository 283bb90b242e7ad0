import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../batching/testing/fake-clock.ts';
import { HubUnavailableError, ModelNotFoundError } from '../../../protocol/errors/hub.ts';
import { parseRetryAfter, retry } from './retry.ts';
import { notFound, rateLimited, unavailable, unreachable } from './hub-errors.ts';

const failed = (retryAfterMs = 0) => unavailable('hub', 503, retryAfterMs);

/** Attempts that end as listed, one after the other; `true` is success, `'progress'` one that fails after some bytes. */
function createAttempts(ends: readonly (Error | true | 'progress')[], chance = 0) {
  const clock = new FakeClock();
  const abort = new AbortController();
  const startedAtMs: number[] = [];
  const outcome = retry(
    async (onProgress) => {
      const end = ends[startedAtMs.length];
      startedAtMs.push(clock.now());
      if (end === 'progress') {
        onProgress();
        throw failed();
      }
      if (end instanceof Error) throw end;
      return 'done';
    },
    { clock, random: () => chance, signal: abort.signal },
  );
  outcome.catch(() => {});
  /** Moves time on until nothing waits any more. */
  const run = async (): Promise<void> => {
    for (;;) {
      await settle();
      if (clock.pendingTimers === 0) return;
      clock.advance(100);
    }
  };
  return { clock, abort, startedAtMs, outcome, run };
}

async function settle(): Promise<void> {
  for (let i = 0; i < 10; i++) await Promise.resolve();
}

describe('retry', () => {
  it('tries again after a transient failure, each pause twice as long as the one before', async () => {
    const { startedAtMs, outcome, run } = createAttempts([failed(), failed(), failed(), true]);
    await run();
    await expect(outcome).resolves.toBe('done');
    expect(startedAtMs).toEqual([0, 500, 1500, 3500]);
  });

  it('leaves up to half of a pause to chance', async () => {
    const { startedAtMs, run } = createAttempts([failed(), failed(), true], 0.8);
    await run();
    expect(startedAtMs).toEqual([0, 300, 900]);
  });

  it('waits as long as the server asks', async () => {
    const { startedAtMs, run } = createAttempts([rateLimited('hub', 7000), true]);
    await run();
    expect(startedAtMs).toEqual([0, 7000]);
  });

  it('gives up at once where the server asks for more than a minute', async () => {
    const { startedAtMs, outcome, run } = createAttempts([rateLimited('hub', 61_000), true]);
    await run();
    await expect(outcome).rejects.toThrow('in 61 s');
    expect(startedAtMs).toEqual([0]);
  });

  it('gives up after six failures in a row', async () => {
    const { startedAtMs, outcome, run } = createAttempts(Array.from({ length: 9 }, () => failed()));
    await run();
    await expect(outcome).rejects.toBeInstanceOf(HubUnavailableError);
    expect(startedAtMs).toHaveLength(6);
  });

  it('forgives failures once something has come', async () => {
    const ends = [...Array.from({ length: 5 }, () => failed()), 'progress', failed(), true] as const;
    const { startedAtMs, outcome, run } = createAttempts(ends);
    await run();
    await expect(outcome).resolves.toBe('done');
    expect(startedAtMs).toHaveLength(8);
  });

  it('does not try again what will not get better', async () => {
    const { startedAtMs, outcome, run } = createAttempts([notFound('a/b', 'hub', 'file'), true]);
    await run();
    await expect(outcome).rejects.toBeInstanceOf(ModelNotFoundError);
    expect(startedAtMs).toHaveLength(1);
  });

  it('ends its pause when it is aborted, and leaves no timer', async () => {
    const { abort, clock, outcome } = createAttempts([unreachable('hub', undefined), true]);
    await settle();
    abort.abort(new Error('paused'));
    await expect(outcome).rejects.toThrow('paused');
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('Retry-After', () => {
  const NOW = Date.parse('2026-01-01T00:00:00Z');

  it.each([
    ['7', 7000],
    ['Thu, 01 Jan 2026 00:00:05 GMT', 5000],
    ['Wed, 31 Dec 2025 00:00:00 GMT', 0],
    ['soon', 0],
    [null, 0],
  ])('%j is %d ms', (header, expected) => {
    expect(parseRetryAfter(header, NOW)).toBe(expected);
  });
});
