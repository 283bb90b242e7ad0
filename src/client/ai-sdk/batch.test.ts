import type { Experimental_BatchV4ItemResult } from '@ai-sdk/provider';
import { expect, it } from 'vitest';

import type { CreateJobOptions, Job, JobInfo, JobRow } from '../index.ts';
import { PlayedWorker } from '../testing/played-worker.ts';
import { createTabserve } from './provider.ts';
import { HI } from './test-support.ts';

const COUNTS = { total: 3, finished: 1, failed: 1 };
const INFO: JobInfo = {
  id: 'j2',
  createdAt: '2026-01-01T00:00:00.000Z',
  source: 'requests',
  deployment: 'text-generator',
  isChat: false,
  options: {},
  seed: 0,
  columns: [],
  name: 'Job',
  state: 'cancelled',
  counts: COUNTS,
};

const TOKENS = { numPromptTokens: 3, numOutputTokens: 1 };
const ROWS: readonly JobRow[] = [
  { index: 0, input: { custom_id: 'a' }, json: '' },
  {
    index: 1,
    input: { custom_id: 'b' },
    json: '',
    result: { text: 'Yes', choices: [{ text: 'Yes', finishReason: 'stop' }], ...TOKENS },
  },
  {
    index: 2,
    input: { custom_id: 'c' },
    json: '',
    result: { ...TOKENS, error: { code: 'PROMPT_TOO_LONG', message: 'Shorten it.' } },
  },
];

/** A provider whose client has these jobs, the latest first. */
function setUp() {
  const created: CreateJobOptions[] = [];
  const cancelled: string[] = [];
  const jobOf = (
    id: string,
    given: Partial<JobInfo> = {},
  ): Pick<Job, 'id' | 'info' | 'results' | 'rows' | 'cancel'> => ({
    id,
    info: { ...INFO, id, ...given },
    async *results() {
      for (const { result, ...row } of ROWS) if (result) yield { ...row, result };
    },
    rows: ({ from = 0, limit = 100 } = {}) =>
      Promise.resolve({ rows: ROWS.slice(from, from + limit), next: undefined }),
    cancel: () => Promise.resolve(void cancelled.push(id)),
  });
  const all = [jobOf('j3', { source: 'rows' }), jobOf('j2'), jobOf('j1', { state: 'running' })];
  const { serve } = new PlayedWorker();
  const jobs = {
    create: (options: CreateJobOptions) => {
      created.push(options);
      return Promise.resolve(all[2]);
    },
    list: () => Promise.resolve(all),
    get: (id: string) => Promise.resolve(all.find((job) => job.id === id)),
  };
  const client = new Proxy(serve, {
    get(target, name) {
      if (name === 'jobs') return jobs;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  return { batch: createTabserve({ serve: client }).experimental_batch(), created, cancelled };
}

it('starts as a job of requests, each with its own options', async () => {
  const { batch, created } = setUp();
  const { prompt } = HI;
  const started = await batch.doStartBatch({
    requests: [
      { type: 'text', id: 'a', modelId: 'chat', options: { prompt, seed: 4 } },
      { type: 'text', id: 'b', modelId: 'chat', options: { prompt, reasoning: 'high' } },
    ],
    webhookUrl: 'https://example.org',
  });
  const line = { method: 'POST', url: 'text-generator' };
  const input = [{ role: 'user', content: 'Hi' }];
  expect(created).toEqual([
    {
      requests: [
        { ...line, custom_id: 'a', body: { input, options: { seed: 4 } } },
        { ...line, custom_id: 'b', body: { input, options: {} } },
      ],
    },
  ]);
  expect(started).toMatchObject({
    batchId: 'j1',
    status: 'pending',
    requestCounts: { total: 3, pending: 1, completed: 1, failed: 1 },
    warnings: [{ warning: { feature: 'webhookUrl' } }, { requestId: 'b', warning: { feature: 'reasoning' } }],
  });
});

it('refuses what is no chat with one model', async () => {
  const { batch } = setUp();
  const { prompt } = HI;
  const requests = ['chat', 'other'].map(
    (modelId) => ({ type: 'text', id: modelId, modelId, options: { prompt } }) as const,
  );
  await expect(batch.doStartBatch({ requests })).rejects.toThrow('several models');
  await expect(batch.doStartBatch({ requests: [] })).rejects.toThrow('several models');
});

it('gives every request an outcome, in order, also those that were cancelled', async () => {
  const { batch } = setUp();
  expect(await batch.doGetBatchStatus({ batchId: 'j2' })).toMatchObject({
    status: 'completed',
    rawStatus: 'cancelled',
  });
  const items: Experimental_BatchV4ItemResult[] = [];
  const stream = await batch.doGetBatchResults({ batchId: 'j2' });
  await stream.pipeTo(new WritableStream({ write: (item) => void items.push(item) }));
  expect(items).toMatchObject([
    { type: 'text', id: 'a', status: 'cancelled' },
    {
      id: 'b',
      status: 'succeeded',
      result: {
        content: [{ type: 'text', text: 'Yes' }],
        finishReason: { unified: 'stop' },
        usage: { inputTokens: { total: 3 }, outputTokens: { total: 1 } },
      },
    },
    { id: 'c', status: 'failed', error: { code: 'PROMPT_TOO_LONG' } },
  ]);
});

it('is listed in pages among the jobs of requests, and can be cancelled', async () => {
  const { batch, cancelled } = setUp();
  const first = await batch.doListBatches?.({ limit: 1 });
  expect(first).toMatchObject({ batches: [{ batchId: 'j2' }], nextCursor: 'j2' });
  const second = await batch.doListBatches?.({ limit: 1, cursor: 'j2' });
  expect(second).toEqual({ batches: [expect.objectContaining({ batchId: 'j1', status: 'pending' })] });
  await batch.doCancelBatch?.({ batchId: 'j1' });
  expect(cancelled).toEqual(['j1']);
});
