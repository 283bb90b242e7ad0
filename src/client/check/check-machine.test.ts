import { beforeEach, describe, expect, it, vi } from 'vitest';
import { gpuWrongValues } from '../../protocol/errors/runtime-messages.ts';
import { createRequestId } from '../../protocol/ids.ts';
import type { BackendChoice } from '../../protocol/ladder.ts';
import type { BackendInfo } from '../../protocol/models.ts';
import type { TabserveStatus } from '../../protocol/status.ts';
import { createModelInfo } from '../../worker/test-support.ts';
import type { WorkerSource } from '../links/worker-host.ts';
import { checkMachine } from './check-machine.ts';
import type { CheckedClient } from './checked-client.ts';
import type { CheckOptions } from './types.ts';

const MODEL = createModelInfo({ id: 'a/b' });
const CPU: BackendInfo = {
  name: 'wasm',
  rung: 'wasm',
  precision: 'fp32',
  adapter: 'CPU, fp32',
  fallbackReason: 'No adapter',
};
const GPU: BackendInfo = {
  ...CPU,
  name: 'webgpu',
  rung: 'webgpu-fp32',
  adapter: 'a GPU',
  fallbackReason: '',
};

interface Played {
  readonly backend?: BackendInfo;
  readonly status?: Partial<TabserveStatus>;
  readonly ready?: () => Promise<void>;
  /** The texts, by their prompts and how many prompts came with them. */
  readonly write?: (prompt: unknown, numTogether: number) => readonly number[] | Promise<never>;
  readonly answer?: string;
  readonly values?: 'right' | 'wrong';
  readonly numMoved?: number;
}

const WRITTEN = [1, 2, 3];
/** A check on a CPU that finds a GPU. */
function trialsWith(gpu: Played): readonly Played[] {
  return [{}, { backend: GPU, ...gpu }];
}
const otherText = () => [1, 2, 4];
const wrongGpu = () => Promise.reject(gpuWrongValues('float32', 'row 3 of a batch'));
const noRoom = () => Promise.reject(new Error('The model does not fit'));

/** A client of a worker that answers at once. */
function play(played: Played = {}): CheckedClient & { readonly isHeld: () => boolean } {
  const { backend = CPU, write = () => WRITTEN, answer = '{"kind": "cat", "age": 1}', numMoved = 9 } = played;
  const held = new AbortController();
  const onStats = new Set<(stats: unknown) => void>();
  const untold: object[] = [];
  let isHeld = false;
  const status = { state: 'ready', model: MODEL, backend, ...played.status };
  const respond = (prompt: unknown, numTogether: number) => ({
    requestId: createRequestId(),
    async result() {
      const tokenIds = await write(prompt, numTogether);
      const top = [{ logprob: -1 }, { logprob: -1.004 }];
      return { tokenIds, generatedText: answer, logprobs: [{ top }] };
    },
    async *[Symbol.asyncIterator]() {
      yield { tokenIds: await write(prompt, numTogether) };
    },
  });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all that a check calls
  return {
    isHeld: () => isHeld,
    status: () => status,
    ready: async () => {
      await played.ready?.();
      return status;
    },
    getHandle: () => ({
      remoteAll: (prompts: readonly unknown[], { signal }: { readonly signal?: AbortSignal }) => {
        signal?.throwIfAborted();
        // Behind the ends of the texts, as those of a fast model are told.
        untold.push({ kind: 'decode', batchSize: prompts.length, outcome: 'ok', stepMs: 1 });
        setTimeout(() => {
          const steps = untold.splice(0);
          for (const tell of onStats) tell({ steps });
        });
        return prompts.map((prompt) => respond(prompt, prompts.length));
      },
    }),
    subscribe(topic: string, listener: (updates: unknown) => void) {
      if (topic === 'stats') onStats.add(listener);
      if (topic === 'requests') listener(Array.from({ length: numMoved }, () => ({ type: 'resubmitted' })));
      return () => onStats.delete(listener);
    },
    overridePolicy: () => {
      isHeld = true;
      return Promise.resolve({ signal: held.signal, release: () => Promise.resolve((isHeld = false)) });
    },
    tokenize: () => Promise.resolve({ tokenIds: [9] }),
    checkDevice: () =>
      Promise.resolve({ values: played.values ?? 'right', where: 'row 3 of a batch', bytesPerSecond: 2e9 }),
    close: () => {},
  } as unknown as CheckedClient & { readonly isHeld: () => boolean };
}

/** @param trials The check's own workers, in the order in which they are made. */
function check(
  serve: CheckedClient,
  trials: readonly Played[],
  options: CheckOptions = {},
  given: BackendChoice = 'auto',
) {
  const left = [...trials];
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- played clients make no worker
  const source = { backend: given } as WorkerSource;
  return checkMachine(
    { serve, source: trials.length === 0 ? undefined : source, createClient: () => play(left.shift()) },
    options,
  );
}

async function outcomes(...input: Parameters<typeof check>) {
  const { lines } = await check(...input);
  return Object.fromEntries(lines.map(({ name, outcome }) => [name, outcome]));
}

async function detailOf(name: string, ...input: Parameters<typeof check>) {
  const { lines } = await check(...input);
  return lines.find((line) => line.name === name)?.detail;
}

const RIGHT = { together: 'right', handover: 'right', shapes: 'right', values: 'right', tokens: 'right' };
const CPU_ALONE = { ...RIGHT, tokens: 'not-run' };

beforeEach(() => {
  vi.stubGlobal('navigator', { userAgent: 'Browser 1', hardwareConcurrency: 4 });
});

describe('on a machine without a GPU', () => {
  it('every other line is right, and the one that needs both backends says why it was not run', async () => {
    const serve = play();
    const report = await check(serve, [{}]);
    expect(Object.fromEntries(report.lines.map(({ name, outcome }) => [name, outcome]))).toEqual(CPU_ALONE);
    expect(report.lines.at(-1)?.detail).toBe('No adapter.');
    expect(report.summary).toBe('Right: 4 of 4. Not run: 1. 8 together: 8.0 × one at a time.');
    expect(report.isOver).toBe(true);
    const rates = [1, 4, 8, 16].map((numTexts) => ({ numTexts, tokensPerSecond: 1000 * numTexts }));
    expect(report.backends).toMatchObject([{ name: 'wasm', bytesPerSecond: 2e9, rates }]);
    expect(serve.isHeld(), 'the users’ own policy is in force again').toBe(false);
  });

  it('tells its progress line by line, and nothing of who ran it', async () => {
    const seen: string[] = [];
    const report = await check(play(), [{}], {
      onProgress: ({ lines }) => seen.push(lines.map(({ outcome }) => outcome[0]).join('')),
    });
    expect(seen[0]).toBe('wwwww');
    expect(seen).toContain('rwwww');
    expect(JSON.stringify(report)).not.toContain('a/b');
  });
});

describe('a fault is found', () => {
  it('of texts that depend on their batch', async () => {
    expect(
      await outcomes(play({ write: (_, numTogether) => (numTogether === 9 ? [1, 2, 4] : WRITTEN) }), [{}]),
    ).toEqual({ ...CPU_ALONE, together: 'wrong' });
  });

  it('of texts that another worker goes on with', async () => {
    expect(await outcomes(play(), [{ write: () => [1, 2, 2, 3] }])).toEqual({
      ...CPU_ALONE,
      handover: 'wrong',
    });
  });

  it('of answers without their shape', async () => {
    expect(await outcomes(play({ answer: '{"kind": "cow"}' }), [{}])).toEqual({
      ...CPU_ALONE,
      shapes: 'wrong',
    });
  });

  it('of values', async () => {
    expect(await outcomes(play(), [{ values: 'wrong' }])).toEqual({ ...CPU_ALONE, values: 'wrong' });
  });

  it('of a request that fails, and the other lines go on', async () => {
    const serve = play({
      write: (_, numTogether) => (numTogether === 9 ? Promise.reject(new Error('injected')) : WRITTEN),
    });
    expect(await outcomes(serve, [{}])).toEqual({ ...CPU_ALONE, together: 'wrong' });
    expect(await detailOf('together', serve, [{}])).toBe('injected');
  });
});

describe('with a GPU beside the CPU that serves', () => {
  it('all lines are right where both choose the same tokens', async () => {
    expect(await outcomes(play(), trialsWith({}), {}, 'wasm')).toEqual(RIGHT);
  });

  it('tokens that differ by less than rounding are right, and the margin is said', async () => {
    // The played logprobs are 0.004 apart.
    expect(await outcomes(play(), trialsWith({ write: otherText }), {}, 'wasm')).toEqual(RIGHT);
    const detail = await detailOf('tokens', play(), trialsWith({ write: otherText }), {}, 'wasm');
    expect(detail).toContain('within 0.004');
  });

  it('a GPU that computes wrong values makes that line wrong, also where it serves nobody', async () => {
    const status = { recovery: { kind: 'wrong-values', message: '', attempt: 1 } } as const;
    const fallen: Played = { backend: { ...CPU, fallbackReason: 'This GPU computes wrong values' }, status };
    expect(await outcomes(play(), [{}, fallen], {}, 'wasm')).toEqual({
      ...RIGHT,
      values: 'wrong',
      tokens: 'not-run',
    });
  });

  it('weights of another precision are not compared', async () => {
    const backend: BackendInfo = { ...GPU, precision: 'q4' };
    const detail = await detailOf('tokens', play(), trialsWith({ backend }), {}, 'wasm');
    expect(detail).toBe('The model is stored as fp32, and the other backend runs it as q4.');
  });
});

it('a GPU that serves is held against known values by a worker of its own kind', async () => {
  expect(await outcomes(play({ backend: GPU }), [{ ready: wrongGpu }, {}])).toEqual({
    ...RIGHT,
    handover: 'not-run',
    values: 'wrong',
  });
});

describe('what can’t be run says why', () => {
  it('where there is no memory for a second model', async () => {
    expect(await outcomes(play(), [{ ready: noRoom }])).toEqual({
      ...CPU_ALONE,
      handover: 'not-run',
      values: 'not-run',
    });
    expect(await detailOf('handover', play(), [{ ready: noRoom }])).toBe('The model does not fit');
  });

  it('where the worker of the check has to take another model', async () => {
    const status = {
      model: createModelInfo({ id: 'storyteller' }),
      loadFailure: { id: 'a/b', error: { code: 'MODEL_TOO_LARGE', message: 'Too large' } },
    };
    expect(await detailOf('handover', play(), [{ status }])).toBe('Too large');
  });

  it('where the tab may run no worker', async () => {
    expect(await detailOf('handover', play(), [])).toContain('canLead: false');
  });

  it('where the texts end before their worker', async () => {
    expect(await detailOf('handover', play(), [{ numMoved: 0 }])).toContain('ended before their worker');
  });

  it('where a server serves', async () => {
    const atServer = play({ backend: { ...CPU, name: 'server' } });
    Object.assign(atServer, { checkDevice: () => Promise.reject(new Error('NOT_AT_SERVER')) });
    await expect(check(atServer, [])).rejects.toThrow('NOT_AT_SERVER');
    expect(atServer.isHeld()).toBe(false);
  });

  it('where it was stopped', async () => {
    const stop = new AbortController();
    const serve = play();
    const options: CheckOptions = {
      signal: stop.signal,
      onProgress: ({ lines }) => lines[0]?.outcome === 'right' && stop.abort(),
    };
    const report = await check(serve, [{}], options);
    expect(report.lines.map(({ outcome }) => outcome)).toEqual([
      'right',
      'not-run',
      'not-run',
      'not-run',
      'not-run',
    ]);
    expect(report.lines.at(-1)?.detail).toBe('Stopped.');
    expect(serve.isHeld()).toBe(false);
  });
});
