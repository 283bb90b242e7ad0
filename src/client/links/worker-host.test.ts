import { beforeEach, describe, expect, it, vi } from 'vitest';
import { FakeClock } from '../../batching/testing/fake-clock.ts';
import { requestId } from '../../batching/generation/test-support.ts';
import { PROTOCOL_VERSION, type Unsigned } from '../../protocol/wire.ts';
import type { HostMessage } from '../../protocol/host-messages.ts';
import { NO_PAST } from '../../protocol/recovery.ts';
import { createTabNumbers, FakeLocks, FakeWorkerPort } from '../../worker/test-support.ts';
import { WorkerHost, type WorkerHostOptions } from './worker-host.ts';

const INIT = { model: { type: 'embedded' }, dtype: 'auto', backend: 'wasm', isShared: true } as const;

// The host of a script that is missing asks for its address.
beforeEach(() => void vi.stubGlobal('Worker', EventTarget));

function createHost(options: Partial<WorkerHostOptions> = {}) {
  const workers: FakeWorkerPort[] = [];
  const heard: unknown[] = [];
  const errors: Error[] = [];
  const clock = new FakeClock();
  const host = new WorkerHost({
    createWorker() {
      const worker = new FakeWorkerPort();
      workers.push(worker);
      return worker;
    },
    init: INIT,
    tabs: () => createTabNumbers('tab'),
    clock,
    onMessage: (data) => heard.push(data),
    onGiveUp: (error) => errors.push(error),
    ...options,
  });
  /** Sends a message of the newest worker to its host. */
  const tell = (message: Unsigned<HostMessage>): void =>
    workers.at(-1)?.say({ version: PROTOCOL_VERSION, ...message });
  const serve = (): void => {
    tell({ type: 'on-rung', rung: 'wasm' });
    tell({ type: 'ready' });
    tell({ type: 'busy' });
  };
  /** And every delay is over. */
  const failLast = (message = 'out of memory'): void => {
    workers.at(-1)?.fail(message);
    clock.advance(10_000);
  };
  const initOf = (index: number): unknown => workers[index]?.received[0];
  return { host, workers, heard, errors, clock, tell, serve, failLast, initOf };
}

/** A host in an isolated page, whose server answers for the worker's script with these headers. */
function createObservedHost(headers: Readonly<Record<string, string>>) {
  const fetch = vi.fn<() => Promise<Response>>(() => Promise.resolve(new Response('', { headers })));
  vi.stubGlobal('fetch', fetch);
  vi.stubGlobal('document', { baseURI: 'http://localhost/' });
  vi.stubGlobal('crossOriginIsolated', true);
  vi.stubGlobal('Worker', FakeWorkerPort);
  const workers: FakeWorkerPort[] = [];
  const created = createHost({
    createWorker() {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as an app makes one
      const worker = new Worker('/w.js') as unknown as FakeWorkerPort;
      workers.push(worker);
      return worker;
    },
  });
  return { ...created, workers, fetch };
}

describe('WorkerHost', () => {
  it('starts the worker with the model and the backend, and passes messages both ways', () => {
    const { host, workers, heard } = createHost();
    host.start();
    host.post('to the worker');
    workers[0]?.say('to the tab');
    expect(workers[0]?.received).toEqual([
      { version: PROTOCOL_VERSION, type: 'init', ...INIT, past: NO_PAST, tabs: createTabNumbers('tab') },
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

  it('replaces a worker that tells of a fault, and tells the next one of it', () => {
    const { host, workers, heard, tell, serve, clock, initOf } = createHost();
    host.start();
    serve();
    tell({ type: 'progress' });
    const fault = { kind: 'wasm-abort', message: 'Aborted()' } as const;
    tell({ type: 'fault', fault, stalledIds: [], numRunning: 3 });
    clock.advance(0);
    expect(workers.map(({ isTerminated }) => isTerminated)).toEqual([true, false]);
    expect(initOf(1)).toMatchObject({
      past: { recovery: { ...fault, rung: 'wasm', attempt: 1 }, leftRungs: [] },
    });
    expect(heard).toEqual([]);
  });

  it('gives up at once where the browser makes no worker', async () => {
    const { host, errors } = createHost({
      createWorker() {
        throw new Error('blocked by policy');
      },
    });
    host.start();
    await Promise.resolve();
    expect(errors.map(({ message }) => message)).toEqual([
      'The worker failed (Error: blocked by policy): reload the page.',
    ]);
  });

  it.each([
    ['nothing', undefined],
    ['an address', '/w.js'],
    ['a promise', Promise.resolve()],
  ])('gives up at once where the function of the app returns %s in place of a worker', async (_, made) => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as JavaScript may call it
    const { host, errors } = createHost({ createWorker: () => made as unknown as FakeWorkerPort });
    host.start();
    await Promise.resolve();
    expect(errors).toMatchObject([
      {
        code: 'INVALID_OPTION',
        param: 'worker',
        message: expect.stringMatching(
          /^Expected `worker` to be a function that makes a worker, and not a promise of one, got /,
        ),
      },
    ]);
  });

  it('gives up after three failures in a row, and says why', () => {
    const { host, workers, errors, failLast } = createHost();
    host.start();
    for (let failure = 0; failure < 3; failure++) failLast(`failure ${failure}`);
    expect(workers).toHaveLength(3);
    expect(errors.map(({ message }) => message)).toEqual(['The worker failed (failure 2): reload the page.']);
    expect(workers.at(-1)?.isTerminated).toBe(true);
  });

  it('tries again where the script does not come, and serves once it does', () => {
    const { host, workers, errors, clock, serve } = createHost();
    host.start();
    for (let failure = 0; failure < 9; failure++) {
      workers.at(-1)?.fail();
      clock.advance(10_000);
    }
    expect([workers.length, errors.length]).toEqual([10, 0]);
    serve();
    expect(workers.at(-1)?.isTerminated).toBe(false);
  });

  it('gives up soon where a policy stops the script, and names its directive', async () => {
    const page = new EventTarget();
    const { host, workers, errors, clock } = createHost({ page });
    host.start();
    workers[0]?.fail();
    const violation = Object.assign(new Event('securitypolicyviolation'), {
      effectiveDirective: 'worker-src',
    });
    page.dispatchEvent(violation);
    await vi.waitFor(() => {
      clock.advance(1000);
      workers.at(-1)?.fail();
      expect(errors).toHaveLength(1);
    });
    expect(workers.length).toBeLessThan(10);
    expect(errors).toMatchObject([
      { code: 'WORKER_NOT_LOADED', message: expect.stringContaining("`worker-src 'self'`") },
    ]);
  });

  it('gives up soon where an isolated page’s script lacks the header for that, and names it', async () => {
    const { host, workers, errors, clock } = createObservedHost({ 'Content-Type': 'text/javascript' });
    host.start();
    await vi.waitFor(() => {
      workers.at(-1)?.fail();
      clock.advance(1000);
      expect(errors).toHaveLength(1);
    });
    expect(errors).toMatchObject([
      {
        code: 'WORKER_NOT_LOADED',
        message: expect.stringMatching(/\/w\.js.*`Cross-Origin-Embedder-Policy: require-corp`/),
      },
    ]);
    expect(workers.length).toBeLessThan(10);
  });

  it('asks for no script that starts, and tries on where the header is there', async () => {
    const { host, workers, errors, clock, fetch } = createObservedHost({
      'Cross-Origin-Embedder-Policy': 'credentialless',
    });
    host.start();
    expect(fetch).not.toHaveBeenCalled();
    workers[0]?.fail();
    await import('./script-answer.ts');
    for (let failure = 1; failure < 9; failure++) {
      workers.at(-1)?.fail();
      clock.advance(10_000);
    }
    expect([workers.length, errors.length, fetch.mock.calls.length]).toEqual([10, 0, 1]);
  });

  it('gives up where the script never comes, and says so', async () => {
    const { host, workers, errors, clock } = createHost();
    host.start();
    workers[0]?.fail();
    // What says more comes on demand.
    await import('./script-answer.ts');
    for (let failure = 1; failure < 10; failure++) {
      clock.advance(10_000);
      workers.at(-1)?.fail();
    }
    expect(workers).toHaveLength(10);
    expect(errors.map(({ message }) => message)).toEqual([
      expect.stringContaining(
        'Check that the file that `worker` names and all that it imports are served as JavaScript',
      ),
    ]);
  });

  it('forgives what failed before a worker brought a token', () => {
    const { host, workers, errors, tell, failLast } = createHost();
    host.start();
    failLast();
    failLast();
    tell({ type: 'progress' });
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
    expect(workers[0]?.isTerminated).toBe(false);
    host.stop();
    host.stop();
    host.post('too late');
    expect(workers).toHaveLength(1);
    expect(workers[0]?.isTerminated).toBe(true);
    expect(workers[0]?.received).toHaveLength(1);
  });

  it('does not start the worker that was due when it is stopped', () => {
    const { host, workers, clock } = createHost();
    host.start();
    for (const worker of [0, 1]) workers[worker]?.fail('once more');
    host.stop();
    clock.advance(10_000);
    expect(workers).toHaveLength(2);
  });
});

/** As the next page of the site finds it. */
const leftIn = (): unknown => {
  const { host, initOf } = createHost({ locks: new FakeLocks() });
  host.start();
  const init = initOf(0);
  return typeof init === 'object' && init && 'past' in init ? init.past : undefined;
};

describe('WorkerHost, of a worker that its tab ends', () => {
  beforeEach(() => {
    const items = new Map<string, string>();
    vi.stubGlobal('localStorage', {
      getItem: (name: string) => items.get(name) ?? null,
      setItem: (name: string, value: string) => void items.set(name, value),
    });
  });

  it('tells the next one, also in another page: that start was not broken', () => {
    const { host, initOf } = createHost({ locks: new FakeLocks() });
    host.start();
    expect(leftIn()).not.toHaveProperty('left');
    host.stop();
    const [left] = namesOf(initOf(0));
    expect(left).toBeDefined();
    expect(leftIn()).toMatchObject({ left });
  });

  it('tells nothing of one that fails, nor where the page may store nothing', () => {
    const { host, workers } = createHost({ locks: new FakeLocks() });
    host.start();
    workers[0]?.fail('out of memory');
    expect(leftIn()).not.toHaveProperty('left');
    vi.stubGlobal('localStorage', {
      getItem: () => {
        throw new DOMException('denied', 'SecurityError');
      },
      setItem: () => {
        throw new DOMException('denied', 'SecurityError');
      },
    });
    host.stop();
    expect(leftIn()).not.toHaveProperty('left');
  });
});

describe('WorkerHost, of a worker that cannot say what happened to it', () => {
  it('replaces one whose lock is free', async () => {
    const locks = new FakeLocks();
    const { host, workers, clock, tell, serve, initOf } = createHost({ locks });
    host.start();
    const [name] = namesOf(initOf(0));
    const release = locks.hold(name ?? '');
    await settle();
    tell({ type: 'alive' });
    serve();
    await settle();
    clock.advance(10_000);
    expect(workers).toHaveLength(1);
    release();
    await settle();
    clock.advance(0);
    expect(workers).toHaveLength(2);
    expect(initOf(1)).toMatchObject({ past: { recovery: { kind: 'worker-ended' } } });
  });

  it('waits no more for the lock of one that it has stopped', async () => {
    const locks = new FakeLocks();
    const { host, tell, serve, initOf } = createHost({ locks });
    host.start();
    const [name = ''] = namesOf(initOf(0));
    locks.hold(name);
    await settle();
    tell({ type: 'alive' });
    serve();
    await settle();
    expect(locks.queueLength(name)).toBe(2);
    host.stop();
    await settle();
    expect(locks.queueLength(name)).toBe(1);
  });

  it('replaces one that is silent for longer than any step may take', () => {
    const { host, workers, clock, tell, serve, initOf } = createHost();
    host.start();
    serve();
    tell({ type: 'pong', patienceMs: 90_000 });
    clock.advance(90_000);
    expect(workers).toHaveLength(1);
    clock.advance(5000);
    clock.advance(0);
    expect(workers).toHaveLength(2);
    expect(initOf(1)).toMatchObject({ past: { recovery: { kind: 'worker-hang' } } });
  });

  it.each([
    ['while it serves', 'ready'],
    ['while a model starts with the request that waits for it', 'alive'],
  ] as const)('fails the request that two workers were reading when they fell silent, %s', (_, begun) => {
    const { host, workers, clock, tell, initOf } = createHost();
    host.start();
    for (let death = 0; death < 2; death++) {
      tell({ type: 'on-rung', rung: 'wasm' });
      tell({ type: begun });
      tell({ type: 'busy' });
      tell({ type: 'reading', requestId: requestId('read') });
      tell({ type: 'reading' });
      tell({ type: 'reading', requestId: requestId('endless') });
      clock.advance(65_000);
      clock.advance(1000);
    }
    expect(workers).toHaveLength(3);
    expect(initOf(1)).toMatchObject({ past: { recovery: { kind: 'worker-hang' }, fatalIds: [] } });
    expect(initOf(2)).toMatchObject({ past: { fatalIds: ['endless'], leftRungs: [] } });
  });

  it('is as patient with a start that has read a prompt as with any other', () => {
    const { host, workers, clock, tell } = createHost();
    host.start();
    tell({ type: 'alive' });
    tell({ type: 'reading', requestId: requestId('read') });
    tell({ type: 'reading' });
    clock.advance(299_000);
    expect(workers).toHaveLength(1);
  });

  it('is content with one that answers now and then', () => {
    const { host, workers, clock, tell, serve } = createHost();
    host.start();
    serve();
    for (let answer = 0; answer < 100; answer++) {
      clock.advance(55_000);
      tell({ type: 'pong', patienceMs: 0 });
    }
    expect(workers).toHaveLength(1);
  });

  it('does not take the sleep of a machine for silence', () => {
    const clock = new FakeClock();
    const sleep = (): void => {
      clock.block(3_600_000);
      clock.advance(0);
    };
    const { host, workers, serve } = createHost({ clock });
    host.start();
    serve();
    for (let night = 0; night < 12; night++) sleep();
    expect(workers).toHaveLength(1);
    sleep();
    expect(workers).toHaveLength(2);
  });

  it('replaces one that is silent for five minutes while it starts, and not one that answers', () => {
    const { host, workers, clock, tell, initOf } = createHost();
    host.start();
    tell({ type: 'alive' });
    for (let answer = 0; answer < 5; answer++) {
      clock.advance(295_000);
      tell({ type: 'pong', patienceMs: 0 });
    }
    tell({ type: 'busy' });
    clock.advance(300_000);
    expect(workers).toHaveLength(1);
    clock.advance(5000);
    expect(workers).toHaveLength(2);
    expect(initOf(1)).toMatchObject({ past: { recovery: { kind: 'worker-hang', attempt: 1 } } });
  });

  it('gives up after half a minute where the script never starts a worker, and says what it has to call', () => {
    const { host, workers, errors, clock } = createHost();
    host.start();
    clock.advance(30_000);
    expect(errors).toEqual([]);
    clock.advance(5000);
    expect(errors).toMatchObject([
      {
        code: 'WORKER_SILENT',
        message: expect.stringMatching(/^The worker has said nothing for 35 s.*startWorker\(\)/),
      },
    ]);
    expect(workers.map(({ isTerminated }) => isTerminated)).toEqual([true]);
  });

  it('waits for one that is ready no longer than a minute, and for nothing while it is idle', () => {
    const { host, workers, clock, tell } = createHost();
    host.start();
    tell({ type: 'alive' });
    tell({ type: 'ready' });
    clock.advance(1_000_000);
    expect(workers).toHaveLength(1);
    tell({ type: 'busy' });
    clock.advance(65_000);
    expect(workers).toHaveLength(2);
  });

  it('asks nothing of one that has nothing to do, or has not come so far', () => {
    const { host, workers, clock, tell } = createHost();
    host.start();
    tell({ type: 'busy' });
    clock.advance(1_000_000);
    tell({ type: 'idle' });
    tell({ type: 'ready' });
    clock.advance(1_000_000);
    expect(workers).toHaveLength(1);
    expect(workers[0]?.received).toHaveLength(1);
  });

  it('blames those of the last step that it has announced who had no token', () => {
    const { host, clock, tell, serve, workers, initOf } = createHost();
    const [good, bad] = [requestId('good'), requestId('bad')];
    host.start();
    for (let death = 0; death < 3; death++) {
      serve();
      // A prompt of several chunks: step after step, and no token.
      tell({ type: 'step', stalledIds: [good, bad] });
      tell({ type: 'progress' });
      tell({ type: 'step', stalledIds: [bad] });
      workers.at(-1)?.fail('hung');
      clock.advance(10_000);
    }
    expect(initOf(3)).toMatchObject({ past: { fatalIds: ['bad'] } });
  });
});

describe('WorkerHost, of a worker that names the step of its fault', () => {
  it('blames nobody for a fault that came between two steps', () => {
    const { host, clock, tell, serve, initOf } = createHost();
    const good = requestId('good');
    host.start();
    for (let death = 0; death < 3; death++) {
      serve();
      tell({ type: 'progress' });
      tell({ type: 'step', stalledIds: [good] });
      tell({
        type: 'fault',
        fault: { kind: 'device-lost', message: 'gone' },
        stalledIds: [],
        numRunning: 0,
      });
      clock.advance(10_000);
    }
    expect(initOf(3)).toMatchObject({ past: { fatalIds: [] } });
  });
});

function namesOf(init: unknown): string[] {
  return typeof init === 'object' && init && 'lifeLock' in init ? [String(init.lifeLock)] : [];
}

/** Locks are granted in microtasks. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await Promise.resolve();
}
