import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';

import { HttpError } from '../../src/protocol/openai/http-error.ts';
import { createFolder } from '../testing/test-support.ts';
import { askTab } from './ask.ts';
import { ResultLog } from './result-log.ts';
import { runRows, type AskRow, type RowsRun } from './run-rows.ts';
import { check, createInput, echo, rowLine, rowLines } from '../testing/batch-rows.ts';

async function run(content: string, ask: AskRow, rest: Partial<RowsRun> = {}) {
  const input = await createInput(content);
  const rows = await check(input);
  const results = await ResultLog.open(join(await createFolder({}), 'results.jsonl'), rows);
  const { signal } = new AbortController();
  const given = { rows, results, ask, numRowsFor: () => 4, scope: '', createdAt: 1, signal };
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

it('reads a window of rows ahead, and holds no others', async () => {
  const stopped = new AbortController();
  const { promise: isAsked, resolve: tell } = Promise.withResolvers<void>();
  let numAsked = 0;
  const ask: AskRow = async (_row, { signal }) => {
    numAsked += 1;
    if (numAsked === 4) tell();
    const { promise, reject } = Promise.withResolvers<never>();
    signal.addEventListener('abort', () => reject(signal.reason));
    return promise;
  };
  const running = run(rowLines(1000), ask, { signal: stopped.signal });
  // The check reads all of them once.
  const parse = vi.spyOn(JSON, 'parse');
  await isAsked;
  for (let turn = 0; turn < 20; turn += 1) await setImmediate();
  expect(parse.mock.calls.length).toBeLessThanOrEqual(1000 + 128);
  stopped.abort(new Error('stopped'));
  await expect(running).rejects.toThrow('stopped');
});

it('asks rows that begin alike one after another, the longest first', async () => {
  const prompts: unknown[] = [];
  const [one, other] = ['a'.repeat(200), 'b'.repeat(200)];
  const texts = [`${one}1`, `${other}1`, `${one}22`, `${other}22`];
  const lines = texts.map((prompt, index) => rowLine(`row-${index}`, { prompt })).join('\n');
  await run(lines, async (row, request) => {
    prompts.push(row.body['prompt']);
    return echo(row, request);
  });
  expect(prompts).toEqual([`${one}22`, `${one}1`, `${other}22`, `${other}1`]);
});

const answersOf = (answer: (body: unknown) => Promise<object>) => ({
  '/v1/completions': answer,
  '/v1/chat/completions': answer,
  '/v1/embeddings': answer,
});

it('rows wait while no tab is open, and go on when one comes', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  const asked: unknown[] = [];
  const noTab = new HttpError(503, 'No open tab is running the model.', { code: 'NO_TAB' });
  let isOpen = false;
  const ask = askTab(
    answersOf((body) => {
      if (!isOpen) return Promise.reject(noTab);
      asked.push(body);
      return Promise.resolve({ usage: { prompt_tokens: 1, prompt_tokens_details: { cached_tokens: 1 } } });
    }),
    {},
  );
  const waits: string[] = [];
  const onWait = ({ code }: HttpError): void => void waits.push(code);
  const running = run(rowLines(6), ask, { onWait });
  await vi.waitUntil(async () => {
    await vi.advanceTimersByTimeAsync(1000);
    return waits.length > 20;
  });
  expect(asked).toEqual([]);
  isOpen = true;
  await vi.waitUntil(async () => {
    await vi.advanceTimersByTimeAsync(1000);
    return asked.length === 6;
  });
  await vi.advanceTimersByTimeAsync(1000);
  expect(await running).toMatchObject({ completed: 6, inputTokens: 6 });
  expect(asked).toHaveLength(6);
  vi.useRealTimers();
});

it('rows of a deployment that can not answer wait alone', async () => {
  const later: string[] = [];
  let numRefused = 0;
  const lines = [rowLine('e', { input: 'x'.repeat(99) }, '/v1/embeddings'), rowLines(9)].join('\n');
  const counts = await run(lines, async (row, request) => {
    if (row.url === '/v1/embeddings' && later.length < 9) {
      numRefused += 1;
      throw new HttpError(503, 'Not yet.', { code: 'SERVER_UNAVAILABLE' });
    }
    later.push(row.customId);
    return echo(row, request);
  });
  expect([counts.completed, numRefused, later.at(-1)]).toEqual([10, 1, 'e']);
});

it('the seed of a row is its own, or its place', async () => {
  const seeds: unknown[] = [];
  const answer = async (body: unknown): Promise<object> => {
    seeds.push(body && typeof body === 'object' && 'seed' in body && body.seed);
    return {};
  };
  const lines = [rowLine('a'), rowLine('b'), rowLine('c', { seed: 7 })].join('\n');
  await run(lines, askTab(answersOf(answer), {}));
  expect(seeds).toEqual([0, 1, 7]);
});
