import { describe, expect, it } from 'vitest';
import { PROTOCOL_VERSION } from '../protocol.ts';
import { FakeWorkerPort } from './test-support.ts';
import { WorkerHost } from './worker-host.ts';

function createHost() {
  const workers: FakeWorkerPort[] = [];
  const heard: unknown[] = [];
  const errors: Error[] = [];
  const host = new WorkerHost({
    createWorker() {
      const worker = new FakeWorkerPort();
      workers.push(worker);
      return worker;
    },
    init: { modelUrl: 'http://localhost/models/storyteller/', backend: 'wasm', isShared: true },
    onMessage: (data) => heard.push(data),
    onGiveUp: (error) => errors.push(error),
  });
  const failLast = (message = 'out of memory'): void => workers.at(-1)?.fail(message);
  return { host, workers, heard, errors, failLast };
}

describe('WorkerHost', () => {
  it('starts the worker with the model and the backend, and passes messages both ways', () => {
    const { host, workers, heard } = createHost();
    host.start();
    host.post('to the worker');
    workers[0]?.say('to the tab');
    expect(workers[0]?.received).toEqual([
      {
        version: PROTOCOL_VERSION,
        type: 'init',
        modelUrl: 'http://localhost/models/storyteller/',
        backend: 'wasm',
        isShared: true,
      },
      'to the worker',
    ]);
    expect(heard).toEqual(['to the tab']);
  });

  it('replaces a worker that fails', () => {
    const { host, workers, errors, failLast } = createHost();
    host.start();
    failLast();
    host.post('again');
    expect(workers.map(({ isTerminated }) => isTerminated)).toEqual([true, false]);
    expect(workers[1]?.received).toMatchObject([{ type: 'init' }, 'again']);
    expect(errors).toEqual([]);
  });

  it('gives up at once where the browser makes no worker', async () => {
    const errors: string[] = [];
    const host = new WorkerHost({
      createWorker() {
        throw new Error('blocked by policy');
      },
      init: { modelUrl: '', backend: 'wasm', isShared: true },
      onMessage: () => {},
      onGiveUp: ({ message }) => errors.push(message),
    });
    host.start();
    await Promise.resolve();
    expect(errors).toEqual(['The worker failed (Error: blocked by policy): reload the page.']);
  });

  it('gives up after three failures in a row, and says why', () => {
    const { host, workers, errors, failLast } = createHost();
    host.start();
    for (let failure = 0; failure < 3; failure++) failLast(`failure ${failure}`);
    expect(workers).toHaveLength(3);
    expect(errors.map(({ message }) => message)).toEqual(['The worker failed (failure 2): reload the page.']);
    expect(host.isRunning).toBe(false);
  });

  it('forgives what failed before a worker got ready', () => {
    const { host, workers, errors, failLast } = createHost();
    host.start();
    failLast();
    failLast();
    host.recordReady();
    failLast();
    failLast();
    expect(errors).toEqual([]);
    expect(workers).toHaveLength(5);
    failLast();
    expect(errors).toHaveLength(1);
  });

  it('ignores a late error of a worker that it has replaced or stopped', () => {
    const { host, workers, errors, failLast } = createHost();
    host.start();
    failLast();
    for (let late = 0; late < 3; late++) workers[0]?.fail('late');
    expect(workers).toHaveLength(2);
    host.stop();
    failLast();
    expect(workers).toHaveLength(2);
    expect(errors).toEqual([]);
  });

  it('stops its worker, and drops what is said to nobody', () => {
    const { host, workers } = createHost();
    host.post('too early');
    host.start();
    expect(host.isRunning).toBe(true);
    host.stop();
    host.stop();
    host.post('too late');
    expect(host.isRunning).toBe(false);
    expect(workers).toHaveLength(1);
    expect(workers[0]?.isTerminated).toBe(true);
    expect(workers[0]?.received).toHaveLength(1);
  });
});
