import { describe, expect, it } from 'vitest';
import { DEFAULT_LOAD_FORM, parseLoadForm } from './load-form.ts';
import { exportLoad, LoadSession, parseTraceFile } from './load-session.ts';
import type { Trace } from './scenario.ts';
import { createFakeServe, NO_RECORDER } from '../../testing/fake-load.ts';
import { createTrace } from './create-trace.ts';

const FORM = { ...DEFAULT_LOAD_FORM, arrivals: 'burst', burstSize: '2', durationSeconds: '0.5' } as const;

const TRACE = {
  requests: [5, 20, 40].map((atMs, seed) => ({ atMs, prompt: `no ${seed}`, maxNewTokens: seed + 1, seed })),
};

async function replay(mode: 'sweep' | 'compare', trace: Trace) {
  const { target, prompts } = createFakeServe('continuous');
  const session = new LoadSession(target, NO_RECORDER, { ...FORM, arrivals: 'replay', mode });
  await session.loadTraceFile(new File([JSON.stringify(trace)], 'trace.json'));
  await session.start();
  return { ...session.store.getState(), prompts };
}

it('the requests of a load test go to the recorder, and a comparison keeps their slots', async () => {
  const ids: string[] = [];
  const recorder = { ...NO_RECORDER, add: (id: string) => void ids.push(id) };
  const { target, prompts } = createFakeServe('continuous');
  const session = new LoadSession(target, recorder, { ...FORM, mode: 'compare' });
  await session.start();
  expect(ids).toEqual(prompts.map((_, index) => `request ${index + 1}`));
  const { results } = session.store.getState();
  expect(results?.trials.flatMap(({ slots }) => slots?.requestIds)).toEqual(ids);
  if (!results) throw new Error('No results');
  expect(exportLoad(results, target).trials[0]).not.toHaveProperty('slots');
});

describe('a replay', () => {
  it('is swept at rates around its own, with its own requests', async () => {
    const { results, prompts } = await replay('sweep', TRACE);
    expect(results?.trials.map(({ label }) => label)).toEqual([
      '18.8/s',
      '37.5/s',
      '75/s',
      '113/s',
      '150/s',
      '225/s',
    ]);
    expect(results?.trials.map(({ trace }) => trace.requests.map(({ atMs }) => atMs))).toEqual([
      [20, 80, 160],
      [10, 40, 80],
      [5, 20, 40],
      [5 / 1.5, 20 / 1.5, 40 / 1.5],
      [2.5, 10, 20],
      [5 / 3, 20 / 3, 40 / 3],
    ]);
    expect(prompts).toEqual(Array.from({ length: 6 }, () => ['no 0', 'no 1', 'no 2']).flat());
  });

  it.each([
    ['all at once', { requests: TRACE.requests.map((request) => ({ ...request, atMs: 0 })) }],
    ['in a closed loop', { ...TRACE, closedLoop: { numUsers: 2, durationSeconds: 0.01 } }],
  ])('of requests %s is not swept, and says why', async (_, trace) => {
    const { results, error } = await replay('sweep', trace);
    expect(error?.code).toBe('NO_ARRIVAL_TIMES');
    expect(results).toBeUndefined();
  });

  it('is exported without the scenario of a form that had no part in it', async () => {
    const { results } = await replay('compare', TRACE);
    if (!results) throw new Error('No results');
    const { target } = createFakeServe('continuous');
    const text = JSON.stringify(exportLoad(results, target));
    expect(JSON.parse(text)).not.toHaveProperty('scenario');
    expect(parseTraceFile(text)).toEqual(TRACE);
  });
});

it('the file of a load test has the trace of each run that did not send the first one’s', async () => {
  const { target } = createFakeServe('continuous');
  const session = new LoadSession(target, NO_RECORDER, { ...FORM, mode: 'sweep' });
  await session.start();
  const { results } = session.store.getState();
  if (!results) throw new Error('No results');
  const { scenario, trace, trials } = exportLoad(results, target);
  expect(scenario).toEqual(results.scenario);
  expect(trials.map((trial) => ('trace' in trial ? trial.trace : trace))).toEqual(
    results.trials.map((trial) => trial.trace),
  );
  expect(trials[0]).not.toHaveProperty('trace');
});

it('reads a trace, by itself or in an export, as it was written', () => {
  const trace = createTrace(parseLoadForm({ ...DEFAULT_LOAD_FORM, arrivals: 'poisson' }, 8, true).scenario);
  expect(parseTraceFile(JSON.stringify(trace))).toEqual(trace);
  expect(parseTraceFile(JSON.stringify({ trace, trials: [] }))).toEqual(trace);
});

it('puts requests in the order of their times', () => {
  const request = { prompt: 'a', maxNewTokens: 1, seed: 0 };
  const text = JSON.stringify({
    requests: [
      { ...request, atMs: 5 },
      { ...request, atMs: 1 },
    ],
  });
  expect(parseTraceFile(text).requests.map(({ atMs }) => atMs)).toEqual([1, 5]);
});

it.each(['', '{}', '{"requests":[]}', '{"requests":[{"atMs":-1,"prompt":"a","maxNewTokens":1,"seed":0}]}'])(
  'refuses what is no trace (%s)',
  (text) => {
    expect(() => parseTraceFile(text)).toThrow('The file holds no trace');
  },
);
