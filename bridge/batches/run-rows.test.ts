import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';

import { HttpError } from '../../src/protocol/openai/http-error.ts';
import { createFolder } from '../testing/test-support.ts';
import { askTab } from './ask.ts';
import { ResultLog } from './result-log.ts';
import { runRows, type AskRow, type RowsRun } from './run-rows.ts';
import { check, createInput, echo, rowLine, rowLines } from '../testing/batch-rows.ts';
import { BATCH_URLS } from './rows.ts';

async function run(content: string, ask: AskRow, rest: Partial<RowsRun> = {}) {
  const input = await createInput(content);
  const rows = await check(input);
  const results = await ResultLog.open(join(await createFolder({}), 'results.jsonl'), rows);
  const { signal } = new AbortController();
  const given = {
    input,
    urls: BATCH_URLS,
    results,
    ask,
    numAtOnce: () => 4,
    scope: '',
    createdAt: 1,
    signal,
  };
  try {
    await runRows({ ...given, ...rest });
  } finally {
    await results.close();
  }
  return results.counts;
}

it('asks as many rows as may run, and no more', async () => {
  let running = 0;
  const peaks: number[] = [];
  const { promise: isFull, resolve: fill } = Promise.withResolvers<void>();
  const counts = await run(rowLines(50), async (row, request) => {
    peaks.push((running += 1));
    if (running === 4) fill();
    await isFull;
    const answer = await echo(row, request);
    running -= 1;
    return answer;
  });
  expect(Math.max(...peaks)).toBe(4);
  expect(counts.completed).toBe(50);
});

it('a row that fails does not keep the others from their results', async () => {
  const lines = [rowLine('a'), rowLine('b', { fail: true }), rowLine('c')].join('\n');
  expect(await run(lines, echo)).toMatchObject({ completed: 2, failed: 1 });
});

it('ends when the signal aborts, and asks nothing more', async () => {
  const stopped = new AbortController();
  let numAsked = 0;
  const ask: AskRow = async (row, request) => {
    numAsked += 1;
    if (numAsked === 10) stopped.abort(new Error('stopped'));
    return echo(row, request);
  };
  await expect(run(rowLines(50), ask, { signal: stopped.signal })).rejects.toThrow('stopped');
  expect(numAsked).toBeLessThan(15);
});

it('reads a row when it may be asked, and holds no others', async () => {
  const stopped = new AbortController();
  const { promise: isAsked, resolve: tell } = Promise.withResolvers<void>();
  const ask: AskRow = async ({ index }, { signal }) => {
    if (index === 3) tell();
    const { promise, reject } = Promise.withResolvers<never>();
    signal.addEventListener('abort', () => reject(signal.reason));
    return promise;
  };
  const running = run(rowLines(1000), ask, { signal: stopped.signal });
  // The check reads all of them once.
  const parse = vi.spyOn(JSON, 'parse');
  await isAsked;
  for (let turn = 0; turn < 20; turn += 1) await setImmediate();
  expect(parse.mock.calls.length).toBeLessThanOrEqual(1000 + 5);
  stopped.abort(new Error('stopped'));
  await expect(running).rejects.toThrow('stopped');
});

it('rows wait while no tab is open, and go on when one comes', async () => {
  vi.useFakeTimers();
  const asked: unknown[] = [];
  const noTab = new HttpError(503, 'No open tab is running the model.', { code: 'NO_TAB' });
  let isOpen = false;
  const answer = (body: unknown): Promise<object> => {
    if (!isOpen) return Promise.reject(noTab);
    asked.push(body);
    return Promise.resolve({ usage: { prompt_tokens: 1, prompt_tokens_details: { cached_tokens: 1 } } });
  };
  const answers = { '/v1/completions': answer, '/v1/chat/completions': answer, '/v1/embeddings': answer };
  const waits: string[] = [];
  const ask = askTab(answers, {}, ({ code }) => waits.push(code));
  const row = { index: 0, customId: 'a', url: '/v1/completions' as const, body: { prompt: 'a' } };
  const { signal } = new AbortController();
  const answered = ask(row, { requestId: 'r', createdAt: 1, signal });
  await vi.advanceTimersByTimeAsync(60_000);
  expect(waits.length).toBeGreaterThan(20);
  isOpen = true;
  await vi.advanceTimersByTimeAsync(2000);
  expect(await answered).toEqual({ status: 200, body: { usage: { prompt_tokens: 1 } } });
  expect(asked).toEqual([{ prompt: 'a', seed: expect.any(Number) }]);
  vi.useRealTimers();
});

it('the seed of a row is its own, or the same in every run', async () => {
  const seeds: unknown[] = [];
  const answer = async (body: unknown): Promise<object> => {
    seeds.push(body && typeof body === 'object' && 'seed' in body && body.seed);
    return {};
  };
  const answers = { '/v1/completions': answer, '/v1/chat/completions': answer, '/v1/embeddings': answer };
  const lines = [rowLine('a'), rowLine('b'), rowLine('c', { seed: 7 })].join('\n');
  await run(lines, askTab(answers, {}));
  await run(lines, askTab(answers, {}));
  expect(seeds.slice(3)).toEqual(seeds.slice(0, 3));
  expect([new Set(seeds).size, seeds[2]]).toEqual([3, 7]);
});
