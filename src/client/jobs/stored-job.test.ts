import { expect, it, onTestFinished, vi } from 'vitest';

import { Calls } from '../links/calls.ts';
import { jobInfo } from '../testing/job-info.ts';
import { StoredJob } from './stored-job.ts';

const RUNNING = jobInfo({ state: 'running', counts: { total: 1, finished: 0, failed: 0 } });
const ROW = { index: 0, json: '{"a":1}', result: { text: 'yes', numPromptTokens: 1, numOutputTokens: 1 } };

it('the results of a job end once it has ended and counts them all', async () => {
  const calls = new Calls(
    {
      isServed: true,
      end: undefined,
      post: (message) => {
        if ('callId' in message) queueMicrotask(() => calls.take(message.callId)?.resolve({ rows: [ROW] }));
      },
    },
    () => undefined,
  );
  const job = new StoredJob(RUNNING, (request) => calls.ask(request));
  const results = job.results();
  expect((await results.next()).value).toMatchObject({ index: 0, result: { text: 'yes' } });
  const events: string[] = [];
  const end = results.next().then(() => events.push('ended'));
  await new Promise((resolve) => setImmediate(resolve));
  events.push('finished');
  job.apply({ ...RUNNING, state: 'finished', counts: { total: 1, finished: 1, failed: 0 } });
  await end;
  expect(events).toEqual(['finished', 'ended']);
  expect(job.info.counts.finished).toBe(1);
});

it('a row that the job doesn’t have can’t run again', async () => {
  const job = new StoredJob(RUNNING, () => Promise.reject(new Error('asked')));
  await expect(job.rerun(1)).rejects.toThrow('Expected `index`');
  await expect(job.rerun(0, -1)).rejects.toThrow('Expected `seed`');
  await expect(job.rerun(0)).rejects.toThrow('asked');
  for (const name of ['', ' ', 5])
    await expect(job.rename(Object(name).valueOf())).rejects.toThrow('Expected `name` to be a name');
});

it('refuses what is no option and no listener by name, and one listener’s error keeps nothing from the others', () => {
  const job = new StoredJob(RUNNING, () => Promise.reject(new Error('asked')));
  expect(() => job.subscribe(Object(5))).toThrow('Expected `listener` to be a function');
  expect(() => job.export(Object('xml'))).toThrow('Expected `format` to be one of csv, jsonl');
  expect(() =>
    job.export(
      'csv',
      Object(() => {}),
    ),
  ).toThrow('Expected `options` to be an object');
  const uncaught = vi.fn<(run: () => void) => void>();
  vi.stubGlobal('queueMicrotask', uncaught);
  onTestFinished(() => void vi.unstubAllGlobals());
  const states: unknown[] = [];
  job.subscribe(() => {
    throw new Error('mine');
  });
  job.subscribe((info) => states.push(info?.state));
  job.apply({ ...RUNNING, state: 'paused' });
  expect(states).toEqual(['running', 'paused']);
  expect(uncaught).toHaveBeenCalledTimes(2);
  expect(() => uncaught.mock.calls[0]?.[0]()).toThrow('mine');
});

it('whoever waits for a job hears why no worker answers, and waits again once one does', async () => {
  const job = new StoredJob(RUNNING, () => Promise.reject(new Error('asked')));
  const waiting = job.done();
  job.end(new Error('closed'));
  await expect(waiting).rejects.toThrow('closed');
  await expect(job.done()).rejects.toThrow('closed');
  job.end(undefined);
  const again = job.done();
  job.apply({ ...RUNNING, state: 'finished' });
  expect((await again).state).toBe('finished');
});
