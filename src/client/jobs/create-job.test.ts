import { describe, expect, it, vi } from 'vitest';

import type { Ask } from '../links/calls.ts';
import { createJob } from './create-job.ts';
import type { JobRecord } from './types.ts';

const REASON = new Error('The user has closed the dialog');

interface Call {
  readonly type: string;
  readonly answer: () => void;
}

/** A worker that answers when the test says so, or at once. */
function createWorker({ isPrompt = false } = {}) {
  const calls: Call[] = [];
  const ask = ((request: { readonly type: string; readonly action?: string }) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    calls.push({ type: request.action ?? request.type, answer: resolve });
    if (isPrompt) resolve();
    return promise;
  }) as Ask;
  return { ask, calls, types: () => calls.map(({ type }) => type) };
}

/** A source that gives some rows, and then none for ever. */
function createSource(numRows: number) {
  let given = 0;
  const onReturn = vi.fn<() => void>();
  const waits = Promise.withResolvers<void>();
  const rows: AsyncIterable<JobRecord> = {
    [Symbol.asyncIterator]: () => ({
      next: () => {
        if (given < numRows) return Promise.resolve({ done: false, value: { a: String(given++) } });
        waits.resolve();
        return new Promise(() => {});
      },
      return: () => {
        onReturn();
        return new Promise(() => {});
      },
    }),
  };
  return { rows, onReturn, waits: waits.promise };
}

async function reasonOf(created: Promise<string>): Promise<unknown> {
  return created.catch((error: unknown) => error);
}

describe('an abort rejects create at once with its reason', () => {
  it('before the first row is asked for', async () => {
    const { ask, types } = createWorker();
    const { rows, onReturn } = createSource(0);
    const signal = AbortSignal.abort(REASON);
    expect(await reasonOf(createJob({ rows, template: '{{a}}', signal }, ask, false))).toBe(REASON);
    expect(onReturn).not.toHaveBeenCalled();
    expect(types()).toEqual([]);
  });

  it('while the source waits with the first row, and ends the source', async () => {
    const { ask, types } = createWorker();
    const { rows, onReturn, waits } = createSource(0);
    const stop = new AbortController();
    const created = reasonOf(createJob({ rows, template: '{{a}}', signal: stop.signal }, ask, false));
    await waits;
    stop.abort(REASON);
    expect(await created).toBe(REASON);
    expect(onReturn).toHaveBeenCalledOnce();
    expect(types()).toEqual([]);
  });

  it('while the source waits with a later row, and deletes the draft', async () => {
    const { ask, calls, types } = createWorker();
    const { rows, onReturn, waits } = createSource(2);
    const stop = new AbortController();
    const created = reasonOf(createJob({ rows, template: '{{a}}', signal: stop.signal }, ask, false));
    await vi.waitFor(() => expect(calls).toHaveLength(1));
    calls[0]?.answer();
    await waits;
    stop.abort(REASON);
    expect(await created).toBe(REASON);
    expect(onReturn).toHaveBeenCalledOnce();
    await vi.waitFor(() => expect(types()).toEqual(['create-job', 'delete']));
  });

  it('while a list has a row that waits', async () => {
    const { ask } = createWorker();
    const stop = new AbortController();
    const rows = [new Promise<JobRecord>(() => {})];
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `for await` takes such a list
    const source = rows as unknown as readonly JobRecord[];
    const created = reasonOf(createJob({ rows: source, template: '', signal: stop.signal }, ask, false));
    stop.abort(REASON);
    expect(await created).toBe(REASON);
  });

  it('while no worker answers, and deletes the draft once it has been created', async () => {
    const { ask, calls, types } = createWorker();
    const { rows, onReturn } = createSource(1);
    const stop = new AbortController();
    const created = reasonOf(createJob({ rows, template: '{{a}}', signal: stop.signal }, ask, false));
    await vi.waitFor(() => expect(calls).toHaveLength(1));
    stop.abort(REASON);
    expect(await created).toBe(REASON);
    expect(onReturn).toHaveBeenCalledOnce();
    expect(types()).toEqual(['create-job']);
    calls[0]?.answer();
    await vi.waitFor(() => expect(types()).toEqual(['create-job', 'delete']));
  });
});

describe('the source', () => {
  it('is ended when its first row lacks a column', async () => {
    const onEnd = vi.fn<() => void>();
    function* read() {
      try {
        yield { b: '1' };
      } finally {
        onEnd();
      }
    }
    const { ask } = createWorker({ isPrompt: true });
    const created = createJob({ rows: read(), template: '{{a}}' }, ask, false);
    await expect(created).rejects.toMatchObject({ code: 'JOB_COLUMN_MISSING' });
    expect(onEnd).toHaveBeenCalledOnce();
  });

  it('may be read in rows that come later, and a failure of it is thrown as it is', async () => {
    async function* read() {
      yield { a: '1' };
      await Promise.resolve();
      throw REASON;
    }
    const { ask } = createWorker({ isPrompt: true });
    const created = createJob({ rows: read(), template: '{{a}}' }, ask, false);
    expect(await reasonOf(created)).toBe(REASON);
  });
});
