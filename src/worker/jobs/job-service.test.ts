import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createJob as createClientJob } from '../../client/jobs/create-job.ts';
import type { Ask } from '../../client/links/calls.ts';
import { BATCH_FILE, FILE_TEXTS } from '../../jobs/testing/batch-file.ts';
import { asClientId, type RequestId } from '../../protocol/ids.ts';
import { handleCall, type CallMessage } from '../../protocol/calls.ts';
import type { JobDefinition, JobInfo } from '../../protocol/jobs.ts';
import type { Dtype, EncoderInfo, ServedModel } from '../../protocol/models.ts';
import { PROTOCOL_VERSION, type Unsigned, type WireError } from '../../protocol/wire.ts';
import type { WorkerStatus } from '../../protocol/status.ts';
import { MemoryFolder, OpfsFile } from '../models/store/test-support.ts';
import { createModelInfo, createWorkerStatus } from '../test-support.ts';
import type { JobCall } from '../../jobs/service/job-calls.ts';
import { openJobs } from './opfs-job-store.ts';
import type { RowRequest } from '../../jobs/read-row.ts';
import { storageFull } from '../models/store/store-errors.ts';

const DEFINITION: JobDefinition = {
  id: 'j1',
  createdAt: '2026-01-01T00:00:00.000Z',
  source: 'rows',
  deployment: 'text-generator',
  template: 'Say {{word}}',
  isChat: false,
  options: { maxNewTokens: 4 },
  seed: 2 ** 32 - 1,
  columns: ['word'],
};

const MODEL: ServedModel = { id: 'model', backend: 'wasm', precision: 'fp32' };
const backendIn = (precision: Dtype) =>
  ({ name: 'wasm', precision, adapter: '', fallbackReason: '' }) as const;
const ready = (id: string, precision: Dtype = 'fp32', origin?: string): WorkerStatus =>
  createWorkerStatus({
    state: 'ready',
    model: createModelInfo({ id, ...(origin !== undefined && { origin }) }),
    backend: backendIn(precision),
  });

/** Rows of a worker, on a disk that outlives it. Rows are answered by hand: with their input in capitals. */
async function openWorker(root: MemoryFolder, given: { status?: WorkerStatus; numRows?: number } = {}) {
  vi.stubGlobal('navigator', { storage: { getDirectory: () => Promise.resolve(root) } });
  const worker = {
    status: given.status ?? ready('model'),
    running: new Map<RequestId, RowRequest>(),
    /** Inputs in the order of their submission, with their seeds. */
    submitted: [] as unknown[],
    infos: new Map<string, JobInfo>(),
    deletedIds: [] as string[],
    /** Tokens whose texts were asked for. */
    namedIds: [] as number[],
  };
  const service = await openJobs('tabserve', {
    status: () => worker.status,
    publish: (jobs, deletedIds) => {
      for (const info of jobs) worker.infos.set(info.id, info);
      worker.deletedIds.push(...deletedIds);
    },
    server: {
      numRowsFor: () => given.numRows ?? 2,
      submit: (requestId, request) => {
        worker.running.set(requestId, request);
        worker.submitted.push([request.input, request.options['seed']]);
      },
      cancel: (requestId) => worker.running.delete(requestId),
      tokenTexts: (tokenIds) => {
        worker.namedIds.push(...tokenIds);
        return Promise.resolve(tokenIds.map((tokenId) => `<${tokenId}>`));
      },
    },
  });
  service.schedule();
  const call = <Name extends JobCall>(message: Unsigned<CallMessage<Name>>) => {
    const signed = { version: PROTOCOL_VERSION, clientId: asClientId('tab'), ...message };
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the compiler loses the name behind Omit
    return handleCall<Name>(service.calls, signed as CallMessage<Name>);
  };
  /** Answers the requests that run, and those that take their places, until this many are answered. */
  const answer = (
    count = Infinity,
    error?: WireError,
    textOf = (input: unknown, _seed: unknown): string => String(input).toUpperCase(),
  ): void => {
    for (let left = count; left > 0; left -= 1) {
      const [next] = worker.running;
      if (!next) return;
      const [requestId, { input, options }] = next;
      worker.running.delete(requestId);
      const choice = {
        text: '',
        generatedText: textOf(input, options['seed']),
        tokenIds: [],
        finishReason: 'stop',
        seed: 0,
        ...(options['logprobs'] !== undefined && { logprobs: [{ tokenId: 7, logprob: -1, top: [] }] }),
      } as const;
      const usage = { numPromptTokens: 3, numCachedTokens: 0, numOutputTokens: 2 };
      const timings = { queueWaitMs: 0, ttftMs: 0, e2eMs: 0, tpotMs: 0 };
      const result = { ...choice, choices: [choice], usage, timings };
      service.receive([{ type: 'started', requestId, queueWaitMs: 0, model: MODEL }]);
      service.receive([
        error ? { type: 'failed', requestId, error } : { type: 'finished', requestId, result },
      ]);
    }
  };
  const textsOf = async (jobId = 'j1') => {
    const { rows } = await call<'read-job'>({ type: 'read-job', callId: 0, jobId, from: 0, limit: 1000 });
    return rows.map(({ result }) => result?.error?.code ?? result?.text ?? '-');
  };
  const published = async (jobId = 'j1') => {
    await vi.advanceTimersByTimeAsync(300);
    return worker.infos.get(jobId);
  };
  return { worker, service, call, answer, textsOf, published };
}

type Opened = Awaited<ReturnType<typeof openWorker>>;

async function createJob({ call }: Opened, rows: readonly object[], definition: Partial<JobDefinition> = {}) {
  const job = { ...DEFINITION, ...definition };
  const jobId = job.id;
  await call<'create-job'>({ type: 'create-job', callId: 0, job, jobName: 'Words' });
  const texts = rows.map((row) => JSON.stringify(row));
  await call<'add-job-rows'>({ type: 'add-job-rows', callId: 1, jobId, from: 0, rows: texts });
  await call<'start-job'>({ type: 'start-job', callId: 2, jobId });
}

/** Leaves the events of job j1 as an earlier version wrote them. */
async function dropPrecision(root: MemoryFolder): Promise<void> {
  let folder = root;
  for (const name of ['tabserve', 'jobs', 'j1']) folder = await folder.getDirectoryHandle(name);
  const file = await (await folder.getFileHandle('events.log')).createSyncAccessHandle();
  const bytes = new Uint8Array(file.getSize());
  file.read(bytes, { at: 0 });
  const text = new TextDecoder().decode(bytes);
  // The index knows where each line begins.
  const shorter = text.replaceAll(/,"precision":"\w+"/g, (part) => ' '.repeat(part.length));
  expect(shorter).not.toBe(text);
  file.write(new TextEncoder().encode(shorter), { at: 0 });
  file.close();
}

const words = (...texts: readonly string[]) => texts.map((word) => ({ word }));
const steer = ({ call }: Opened, action: 'pause' | 'resume' | 'cancel' | 'retry-failed' | 'delete') =>
  call<'steer-job'>({ type: 'steer-job', callId: 3, jobId: 'j1', action });

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

it('a batch file has the texts that `run-batch` and `/v1/batches` give', async () => {
  const opened = await openWorker(new MemoryFolder(), { numRows: 16 });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the compiler loses the call's name
  const ask = ((message: object) => opened.call({ callId: 0, ...message } as never)) as Ask;
  const id = await createClientJob({ requests: BATCH_FILE.map(({ line }) => line) }, ask, false);
  for (let turn = 0; turn < 5; turn += 1) {
    opened.answer(Infinity, undefined, (...given) => given.join(' '));
    await opened.published(id);
  }
  expect(await opened.textsOf(id)).toEqual(FILE_TEXTS);
});

describe('a job', () => {
  it('has the texts of its tokens, asked for once', async () => {
    const opened = await openWorker(new MemoryFolder());
    await createJob(opened, words('a', 'b', 'c'), { options: { logprobs: 0 } });
    opened.answer(1);
    await vi.advanceTimersByTimeAsync(0);
    opened.answer();
    expect(await opened.published()).toMatchObject({ state: 'finished', counts: { finished: 3 } });
    const { rows } = await opened.call<'read-job'>({
      type: 'read-job',
      callId: 0,
      jobId: 'j1',
      from: 0,
      limit: 9,
    });
    const logprobs = [{ tokenId: 7, text: '<7>', logprob: -1, top: [] }];
    expect(rows.map(({ result }) => result?.logprobs)).toEqual([logprobs, logprobs, logprobs]);
    expect(opened.worker.namedIds).toEqual([7]);
  });

  it('keeps the slots full to the last row, and has results in file order', async () => {
    const opened = await openWorker(new MemoryFolder());
    await createJob(opened, words('a', 'bbb', 'cc'));
    expect(opened.worker.running.size).toBe(2);
    opened.answer(1);
    expect(opened.worker.running.size).toBe(2);
    opened.answer();
    expect(opened.worker.submitted).toEqual([
      ['Say bbb', 0],
      ['Say cc', 1],
      ['Say a', 2 ** 32 - 1],
    ]);
    expect(await opened.textsOf()).toEqual(['SAY A', 'SAY BBB', 'SAY CC']);
    expect(await opened.published()).toMatchObject({
      state: 'finished',
      counts: { total: 3, finished: 3, failed: 0 },
      model: 'model',
    });
  });

  it('goes on in the next worker from the rows that are done, with the same seeds', async () => {
    const root = new MemoryFolder();
    const first = await openWorker(root);
    await createJob(first, words('a', 'b', 'c', 'd'));
    first.answer(2);
    await first.published();
    const next = await openWorker(root.clone());
    expect(next.worker.submitted).toEqual(first.worker.submitted.slice(2));
    next.answer();
    expect(await next.textsOf()).toEqual(['SAY A', 'SAY B', 'SAY C', 'SAY D']);
  });

  it('asks the disk once for many rows, and a crash before only runs them again', async () => {
    const numCalls = (['read', 'write'] as const).map(
      (name) => vi.spyOn(OpfsFile.prototype, name).mock.calls,
    );
    const root = new MemoryFolder();
    const opened = await openWorker(root, { numRows: 8 });
    const rows = Array.from({ length: 400 }, (_, index) => `w${index}`);
    await createJob(opened, words(...rows));
    opened.answer(350);
    const crashed = root.clone();
    opened.answer();
    expect(numCalls.flat().length).toBeLessThan(rows.length / 8);
    const next = await openWorker(crashed);
    expect((await next.textsOf()).filter((text) => text !== '-')).toHaveLength(320);
    next.answer();
    expect(await next.textsOf()).toEqual(rows.map((word) => `SAY ${word.toUpperCase()}`));
  });

  it('goes on behind rows that can not run, however many', async () => {
    const opened = await openWorker(new MemoryFolder());
    const bad = Array.from({ length: 300 }, () => ({ other: 'x' }));
    await createJob(opened, [...bad, ...words('a')]);
    await opened.published();
    opened.answer();
    expect((await opened.textsOf()).at(-1)).toBe('SAY A');
  });

  it('goes on storing rows in the next worker, and stores none twice', async () => {
    const root = new MemoryFolder();
    const first = await openWorker(root);
    vi.setSystemTime(Date.parse(DEFINITION.createdAt));
    await first.call<'create-job'>({ type: 'create-job', callId: 0, job: DEFINITION, jobName: 'Words' });
    const rows = [JSON.stringify({ word: 'a' })];
    await first.call<'add-job-rows'>({ type: 'add-job-rows', callId: 1, jobId: 'j1', from: 0, rows });
    const next = await openWorker(root.clone());
    await createJob(next, words('a', 'b'));
    next.answer();
    expect(await next.textsOf()).toEqual(['SAY A', 'SAY B']);
  });

  it('marks rows that fail while the others go on, and runs them again when asked', async () => {
    const root = new MemoryFolder();
    const opened = await openWorker(root);
    await createJob(opened, [{ word: 'a' }, { other: 'b' }, { word: 'c' }]);
    opened.answer(1, { code: 'PROMPT_TOO_LONG', message: '' });
    opened.answer();
    expect(await opened.textsOf()).toEqual(['PROMPT_TOO_LONG', 'JOB_COLUMN_MISSING', 'SAY C']);
    await steer(opened, 'retry-failed');
    expect(opened.worker.running.size).toBe(1);
    const next = await openWorker(root.clone());
    next.answer();
    expect(await next.textsOf()).toEqual(['SAY A', 'JOB_COLUMN_MISSING', 'SAY C']);
  });

  it('counts no retry where no row has failed', async () => {
    const opened = await openWorker(new MemoryFolder());
    await createJob(opened, words('a'));
    opened.answer();
    await steer(opened, 'retry-failed');
    expect(await opened.published()).toMatchObject({ state: 'finished', numRetries: 0 });
  });

  it('runs one row again with another seed, also in the next worker, and keeps all others', async () => {
    const root = new MemoryFolder();
    const opened = await openWorker(root);
    await createJob(opened, words('a', 'b', 'c'));
    opened.answer();
    await opened.call<'rerun-job-row'>({ type: 'rerun-job-row', callId: 4, jobId: 'j1', index: 1, seed: 77 });
    expect(await opened.textsOf()).toEqual(['SAY A', '-', 'SAY C']);
    expect(await opened.published()).toMatchObject({ counts: { finished: 2 }, numRetries: 1 });
    const later = root.clone();
    const next = await openWorker(later);
    expect(next.worker.submitted).toEqual([['Say b', 77]]);
    next.answer();
    expect(await next.textsOf()).toEqual(['SAY A', 'SAY B', 'SAY C']);
    await next.published();
    const last = await openWorker(later.clone());
    expect(last.worker.submitted).toEqual([]);
  });

  it('says what its rows took, without the time of a pause, also in the next worker', async () => {
    const root = new MemoryFolder();
    const opened = await openWorker(root);
    await createJob(opened, words('a', 'b', 'c'));
    expect(await opened.published()).not.toHaveProperty('totals');
    await vi.advanceTimersByTimeAsync(700);
    opened.answer(1);
    await vi.advanceTimersByTimeAsync(1000);
    await steer(opened, 'pause');
    await vi.advanceTimersByTimeAsync(60_000);
    await steer(opened, 'resume');
    await vi.advanceTimersByTimeAsync(500);
    opened.answer();
    const totals = { durationMs: 2500, numRows: 3, numPromptTokens: 9, numOutputTokens: 6 };
    expect(await opened.published()).toMatchObject({ state: 'finished', totals });
    const next = await openWorker(root.clone());
    expect(await next.call<'list-jobs'>({ type: 'list-jobs', callId: 9 })).toMatchObject([{ totals }]);
  });

  it('stays paused and cancelled, and goes on when it is resumed', async () => {
    const root = new MemoryFolder();
    const opened = await openWorker(root);
    await createJob(opened, words('a', 'b', 'c'));
    for (const [action, state] of [
      ['pause', 'paused'],
      ['resume', 'running'],
      ['cancel', 'cancelled'],
      ['resume', 'running'],
      ['pause', 'paused'],
    ] as const) {
      await steer(opened, action);
      expect([await opened.published(), opened.worker.running.size]).toEqual([
        expect.objectContaining({ state }),
        state === 'running' ? 2 : 0,
      ]);
    }
    const next = await openWorker(root.clone());
    expect(next.worker.running.size).toBe(0);
  });

  it('waits for as long as a server that has no place asks it to', async () => {
    const opened = await openWorker(new MemoryFolder());
    await createJob(opened, words('a', 'b'));
    const error = { code: 'BACK_PRESSURE', message: 'Full.', details: { retryAfterMs: 60_000 } };
    opened.answer(2, error);
    expect(await opened.published()).toMatchObject({ state: 'paused', error });
    await vi.advanceTimersByTimeAsync(55_000);
    expect(opened.worker.running.size).toBe(0);
    await vi.advanceTimersByTimeAsync(6000);
    opened.answer();
    expect(await opened.textsOf()).toEqual(['SAY A', 'SAY B']);
  });

  it('waits for the model that began it, or for the order to take another one', async () => {
    const root = new MemoryFolder();
    const first = await openWorker(root);
    await createJob(first, words('a', 'b'));
    first.answer(1);
    await first.published();
    const next = await openWorker(root.clone(), { status: ready('other') });
    const info = await next.call<'list-jobs'>({ type: 'list-jobs', callId: 9 });
    expect(info).toMatchObject([{ state: 'paused', error: { code: 'JOB_MODEL_CHANGED' } }]);
    next.worker.status = ready('model');
    next.service.schedule();
    expect(next.worker.running.size).toBe(1);
    next.worker.status = ready('other');
    next.service.schedule();
    expect(next.worker.running.size).toBe(0);
    await steer(next, 'resume');
    expect([next.worker.running.size, await next.published()]).toEqual([
      1,
      expect.objectContaining({ state: 'running', model: 'other' }),
    ]);
  });

  it.each([
    ['precision', ready('model', 'q8'), 'model in q8 serves now'],
    ['revision', ready('model', 'fp32', 'c2'), 'another revision of model serves now'],
  ])('waits for the %s that began it, also in the next browser, and says so', async (_, other, told) => {
    const root = new MemoryFolder();
    const first = await openWorker(root);
    await createJob(first, words('a', 'b'));
    first.answer(1);
    await first.published();
    const next = await openWorker(root.clone(), { status: other });
    const paused = await next.call<'list-jobs'>({ type: 'list-jobs', callId: 9 });
    expect(paused).toMatchObject([
      {
        state: 'paused',
        error: {
          code: 'JOB_MODEL_CHANGED',
          message: expect.stringContaining(`model in fp32 began this job, and ${told}`),
        },
      },
    ]);
    next.worker.status = ready('model');
    next.service.schedule();
    expect(next.worker.running.size).toBe(1);
    next.worker.status = other;
    next.service.schedule();
    expect(next.worker.running.size).toBe(0);
    await steer(next, 'resume');
    expect([next.worker.running.size, await next.published()]).toEqual([
      1,
      expect.objectContaining({ state: 'running', model: 'model' }),
    ]);
  });

  it.each(['started', 'restarted'] as const)(
    'takes no row of another precision that has %s it before the status names that',
    async (type) => {
      const opened = await openWorker(new MemoryFolder());
      await createJob(opened, words('a', 'b', 'c'));
      opened.answer(1);
      const [requestId] = [...opened.worker.running.keys()];
      const model: ServedModel = { ...MODEL, precision: 'q8' };
      if (requestId) opened.service.receive([{ type, requestId, queueWaitMs: 0, model }]);
      expect(opened.worker.running.size).toBe(0);
      expect(await opened.published()).toMatchObject({
        state: 'paused',
        error: { code: 'JOB_MODEL_CHANGED' },
      });
      await vi.advanceTimersByTimeAsync(5000);
      opened.answer();
      expect(await opened.textsOf()).toEqual(['SAY A', 'SAY B', 'SAY C']);
    },
  );

  it('goes on in fp32 where a device without fp16 takes over, as texts do', async () => {
    const root = new MemoryFolder();
    const first = await openWorker(root, { status: ready('model', 'fp16') });
    await createJob(first, words('a', 'b', 'c'));
    first.answer(1);
    await first.published();
    const next = await openWorker(root.clone(), { status: ready('model', 'fp32') });
    expect(next.worker.running.size).toBe(2);
  });

  it('from before jobs kept the precision goes on in any, and from there in that one', async () => {
    const root = new MemoryFolder();
    const first = await openWorker(root);
    await createJob(first, words('a', 'b', 'c'));
    first.answer(1);
    await first.published();
    const old = root.clone();
    await dropPrecision(old);
    const next = await openWorker(old, { status: ready('model', 'q4') });
    expect(next.worker.running.size).toBe(2);
    next.worker.status = ready('model', 'q8');
    next.service.schedule();
    expect(await next.published()).toMatchObject({ state: 'paused', error: { code: 'JOB_MODEL_CHANGED' } });
  });

  it('of vectors waits for the precision of the embedder', async () => {
    const status = { ...ready('model'), encoders: [ENCODER] };
    const opened = await openWorker(new MemoryFolder(), { status });
    await createJob(opened, words('a', 'b', 'c'), { deployment: 'embedder', options: {} });
    expect(opened.worker.running.size).toBe(2);
    opened.worker.status = { ...status, encoders: [{ ...ENCODER, backend: backendIn('q8') }] };
    opened.service.schedule();
    expect(opened.worker.running.size).toBe(0);
    const error = { message: expect.stringContaining('encoder in fp32 began this job') };
    expect(await opened.published()).toMatchObject({ state: 'paused', error });
  });

  it.each([
    ['paused', 'NO_MODEL', createWorkerStatus({ state: 'ready' })],
    ['queued', undefined, createWorkerStatus({ state: 'loading' })],
    [
      'paused',
      'HUB_UNREACHABLE',
      createWorkerStatus({ state: 'failed', error: { code: 'HUB_UNREACHABLE', message: '' } }),
    ],
  ])('is %s (%s) while no model serves, and goes on once one is loaded', async (state, code, status) => {
    const opened = await openWorker(new MemoryFolder(), { status });
    await createJob(opened, words('a', 'b', 'c'));
    const waiting = await opened.published();
    expect([waiting?.state, waiting?.error?.code, opened.worker.submitted]).toEqual([state, code, []]);
    opened.worker.status = ready('model');
    opened.service.schedule();
    opened.answer();
    expect(await opened.textsOf()).toEqual(['SAY A', 'SAY B', 'SAY C']);
  });

  it('pauses while the disk is full, and loses no row', async () => {
    const opened = await openWorker(new MemoryFolder());
    await createJob(opened, words('a', 'b', 'c'));
    const full = vi.spyOn(OpfsFile.prototype, 'write').mockImplementation(() => {
      throw storageFull('full');
    });
    opened.answer(1);
    expect(await opened.published()).toMatchObject({ state: 'paused', error: { code: 'STORAGE_QUOTA' } });
    expect(opened.worker.running.size).toBe(0);
    full.mockRestore();
    await vi.advanceTimersByTimeAsync(5000);
    opened.answer();
    expect(await opened.textsOf()).toEqual(['SAY A', 'SAY B', 'SAY C']);
  });

  it('waits behind an older one, and is gone with its files once it is deleted', async () => {
    const root = new MemoryFolder();
    const opened = await openWorker(root);
    await createJob(opened, words('a', 'b', 'c'));
    await createJob(opened, words('z'), { id: 'j2' });
    expect(await opened.published('j2')).toMatchObject({ state: 'queued' });
    await steer(opened, 'delete');
    expect(await opened.published('j2')).toMatchObject({ state: 'running' });
    expect(opened.worker.deletedIds).toEqual(['j1']);
    await expect(steer(opened, 'pause')).rejects.toMatchObject({ code: 'JOB_NOT_FOUND' });
    const next = await openWorker(root.clone());
    expect(await next.call<'list-jobs'>({ type: 'list-jobs', callId: 9 })).toHaveLength(1);
  });

  it('that ends workers is paused with that reason, also in the next browser, until it is resumed', async () => {
    let root = new MemoryFolder();
    const first = await openWorker(root);
    await createJob(first, words('a', 'b'));
    await steer(first, 'pause');
    await first.published();
    for (let numLost = 0; numLost < 2; numLost += 1) {
      const worker = await openWorker((root = root.clone()));
      if (numLost === 0) await steer(worker, 'resume');
      expect(worker.worker.running.size).toBe(2);
      // It ends before anything else comes.
      root = root.clone();
      worker.worker.running.clear();
    }
    const next = await openWorker((root = root.clone()));
    expect(next.worker.running.size).toBe(0);
    const info = await next.call<'list-jobs'>({ type: 'list-jobs', callId: 9 });
    expect(info).toMatchObject([{ state: 'paused', error: { code: 'JOB_ENDS_WORKERS' } }]);
    await steer(next, 'resume');
    await next.published();
    next.answer();
    expect(await next.textsOf()).toEqual(['SAY A', 'SAY B']);
  });

  it('is not blamed for workers that end while its rows run', async () => {
    let root = new MemoryFolder();
    await createJob(await openWorker(root), words('a', 'b'));
    for (let numLost = 0; numLost < 5; numLost += 1) {
      await vi.advanceTimersByTimeAsync(1);
      const worker = await openWorker((root = root.clone()));
      expect(worker.worker.running.size).toBe(2);
    }
  });

  it('has a template that the worker has checked, whoever sent it', async () => {
    const opened = await openWorker(new MemoryFolder());
    const template = '{{word}}'.repeat(200_000);
    await expect(createJob(opened, words('a'), { template })).rejects.toMatchObject({
      code: 'JOB_ROW_INVALID',
    });
    await createJob(opened, words('x'.repeat(9), 'y'), { template: '{{word}}'.repeat(120_000) });
    await opened.published();
    opened.answer();
    expect((await opened.textsOf())[0]).toBe('PROMPT_TOO_LONG');
  });

  it('reads no more rows at a time than their prompts allow', async () => {
    const opened = await openWorker(new MemoryFolder(), { numRows: 1000 });
    const template = `${'x'.repeat(2 ** 19)}{{word}}`;
    await createJob(opened, words(...Array.from({ length: 40 }, () => 'y')), { template });
    expect(opened.worker.running.size).toBe(4);
    await opened.published();
    expect(opened.worker.running.size).toBe(40);
  });

  it('has rows of any columns and line ends, as they were written', async () => {
    const opened = await openWorker(new MemoryFolder());
    const rows = ['{"word":1.10,\n"__proto__":2,\r\n"constructor":3}', '{"word":{"toString":1,"valueOf":1}}'];
    await opened.call<'create-job'>({ type: 'create-job', callId: 0, job: DEFINITION, jobName: 'Words' });
    await opened.call<'add-job-rows'>({ type: 'add-job-rows', callId: 1, jobId: 'j1', from: 0, rows });
    await opened.call<'start-job'>({ type: 'start-job', callId: 2, jobId: 'j1' });
    opened.answer();
    expect(await opened.textsOf()).toEqual(['SAY 1.10', 'SAY {"TOSTRING":1,"VALUEOF":1}']);
    const read = await opened.call<'read-job'>({
      type: 'read-job',
      callId: 0,
      jobId: 'j1',
      from: 0,
      limit: 9,
    });
    expect(read.rows[0]?.json).toBe('{"word":1.10, "__proto__":2,  "constructor":3}');
  });

  it('says that its files are gone, goes on, and leaves room for new ones', async () => {
    const root = new MemoryFolder();
    const opened = await openWorker(root);
    await createJob(opened, words('a', 'b', 'c'));
    opened.answer(1);
    await root.removeEntry('tabserve');
    await createJob(opened, words('z'), { id: 'j2' });
    const list = () => opened.call<'list-jobs'>({ type: 'list-jobs', callId: 9 });
    const lost = { code: 'JOB_FILES_LOST' };
    await list();
    await vi.advanceTimersByTimeAsync(1);
    expect(await list()).toMatchObject([{ state: 'running', error: lost }, { state: 'queued' }]);
    opened.answer();
    await opened.published();
    opened.answer();
    expect(await opened.textsOf()).toEqual(['SAY A', 'SAY B', 'SAY C']);
    expect(await opened.textsOf('j2')).toEqual(['SAY Z']);
    const [first, second] = await list();
    expect([first?.state, first?.error?.code, second?.state, second?.error]).toEqual([
      'finished',
      'JOB_FILES_LOST',
      'finished',
      undefined,
    ]);
    const next = await openWorker(root.clone());
    expect(await next.call<'list-jobs'>({ type: 'list-jobs', callId: 9 })).toMatchObject([{ id: 'j2' }]);
  });

  it('whose files are gone and take nothing more is paused, and runs no row again', async () => {
    const root = new MemoryFolder();
    const opened = await openWorker(root);
    await createJob(opened, words('a', 'b', 'c'));
    await root.removeEntry('tabserve');
    const closed = vi.spyOn(OpfsFile.prototype, 'write').mockImplementation(() => {
      throw storageFull('gone');
    });
    await opened.call<'list-jobs'>({ type: 'list-jobs', callId: 9 });
    opened.answer(1);
    expect(await opened.published()).toMatchObject({ state: 'paused', error: { code: 'JOB_FILES_LOST' } });
    const numAsked = opened.worker.submitted.length;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(opened.worker.submitted).toHaveLength(numAsked);
    closed.mockRestore();
  });

  it('whose files go while its rows are being stored is refused', async () => {
    const root = new MemoryFolder();
    const opened = await openWorker(root);
    await opened.call<'create-job'>({ type: 'create-job', callId: 0, job: DEFINITION, jobName: 'Words' });
    await root.removeEntry('tabserve');
    await expect(
      opened.call<'start-job'>({ type: 'start-job', callId: 2, jobId: 'j1' }),
    ).rejects.toMatchObject({ code: 'JOB_STORE_FAILED', message: expect.stringContaining('are gone') });
  });

  it('is searched with a few reads of its files, however many rows have no result yet', async () => {
    const opened = await openWorker(new MemoryFolder());
    await createJob(opened, words(...Array.from({ length: 500 }, (_, i) => `word ${i}`)));
    const reads = vi.spyOn(OpfsFile.prototype, 'read');
    const query = { jobId: 'j1', from: 0, limit: 9, search: 'word 499' };
    const found = await opened.call<'read-job'>({ type: 'read-job', callId: 0, ...query });
    expect(found).toMatchObject({ rows: [{ index: 499 }] });
    expect(reads.mock.calls.length).toBeLessThan(10);
  });

  it('finds rows by error and by text', async () => {
    const opened = await openWorker(new MemoryFolder());
    await createJob(opened, [...words('apple', 'pear'), { other: 'x' }]);
    opened.answer();
    const read = (query: object) =>
      opened.call<'read-job'>({ type: 'read-job', callId: 0, jobId: 'j1', from: 0, limit: 9, ...query });
    expect(await read({ only: 'failed' })).toMatchObject({ rows: [{ index: 2 }] });
    expect(await read({ search: 'PEAR' })).toMatchObject({ rows: [{ index: 1, json: '{"word":"pear"}' }] });
    expect(await read({ search: 'zebra' })).toEqual({ rows: [] });
    expect(await read({ limit: 2 })).toMatchObject({ rows: [{ index: 0 }, { index: 1 }], next: 2 });
  });
});

const ENCODER: EncoderInfo = {
  deployment: 'embedder',
  id: 'encoder',
  numParameters: 1,
  maxTokens: 512,
  vocabSize: 10,
  dimensions: 2,
  prompts: [],
  backend: backendIn('fp32'),
};

const text = (id: string) => ({
  custom_id: id,
  method: 'POST',
  url: '/v1/completions',
  body: { prompt: id },
});
const embedding = { custom_id: 'e', method: 'POST', url: '/v1/embeddings', body: { input: 'x' } };
const NO_ENCODER = { code: 'NO_ENCODER', message: 'none' };
const isEmbedding = ([, { deployment }]: [unknown, RowRequest]): boolean => deployment === 'embedder';

describe('a batch of texts with one to embed', () => {
  it.each([
    ['first', 'embedder', [embedding, text('a'), text('b'), text('c'), text('d')]],
    ['last', 'text-generator', [text('a'), text('b'), text('c'), text('d'), embedding]],
  ] as const)('answers all others once while there is no embedder: %s', async (_, deployment, lines) => {
    const opened = await openWorker(new MemoryFolder(), { numRows: 2 });
    await createJob(opened, lines, { source: 'requests', deployment, columns: [] });
    const { worker, service, answer } = opened;
    for (let left = 10; left > 0; left -= 1) {
      const refused = [...worker.running].find(isEmbedding);
      if (refused) {
        worker.running.delete(refused[0]);
        service.receive([{ type: 'failed', requestId: refused[0], error: NO_ENCODER }]);
      }
      answer(1);
      await vi.advanceTimersByTimeAsync(1);
    }
    const texts = ['A', 'B', 'C', 'D'];
    expect((await opened.textsOf()).filter((each) => each !== '-')).toEqual(texts);
    expect(await opened.published()).toMatchObject({ state: 'paused', error: { code: 'NO_ENCODER' } });
    const numAsked = worker.submitted.length;
    expect(numAsked).toBe(5);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(worker.submitted).toHaveLength(numAsked);
    worker.status = { ...worker.status, encoders: [ENCODER] };
    await vi.advanceTimersByTimeAsync(5000);
    expect([...worker.running].filter(isEmbedding)).toHaveLength(1);
  });
});
