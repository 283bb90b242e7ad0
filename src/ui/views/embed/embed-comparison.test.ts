import { describe, expect, it } from 'vitest';

import type { BatchKnobs, BatchRecord, TabserveClient } from '../../../client/index.ts';
import { createBatch, createStatus } from '../../testing/test-support.ts';
import { describeComparison, describeGain } from './comparison-texts.ts';
import { compareWays, type EmbedTrial } from './embed-comparison.ts';
import { WAYS } from '../../panels/trials/ways.ts';

const OWN: BatchKnobs = { maxBatchSize: 64, batchWaitTimeoutMs: 0, maxConcurrentBatches: 1, sortWindow: 16 };

/** Runs each request as one batch, and each text alone at a max batch size of 1. */
function setUp({ skew = 0, failsAt = Infinity } = {}) {
  let knobs = OWN;
  let isHeld = false;
  const lost = new AbortController();
  let numRequests = 0;
  const log: Partial<BatchKnobs>[] = [];
  let onBatch: ((batch: BatchRecord) => void) | undefined;
  const remote = (texts: readonly string[], { signal }: { readonly signal: AbortSignal }) => {
    numRequests += 1;
    if (numRequests >= failsAt) return Promise.reject(new Error('It was lost.'));
    if (signal.aborted) return Promise.reject(new Error('cancelled'));
    const sizes = knobs.maxBatchSize === 1 ? texts.map(() => 1) : [texts.length];
    for (const batchSize of sizes) {
      const measuredSize = batchSize * 10;
      onBatch?.(createBatch({ deployment: 'embedder', batchSize, measuredSize, numTokens: batchSize * 8 }));
    }
    return Promise.resolve(texts.map(() => ({ embedding: Float32Array.of(1 + numRequests * skew, 0) })));
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all that the comparison calls
  const client = {
    getHandle: () => ({ remote }),
    status: () => createStatus({ deployments: [{ name: 'embedder', knobs }] }),
    subscribe: (_topic: string, listener: typeof onBatch) => {
      onBatch = listener;
      return () => {};
    },
    overrideKnobs: () =>
      Promise.resolve({
        signal: lost.signal,
        change: (change: Partial<BatchKnobs>) => {
          if (lost.signal.aborted) return Promise.reject(lost.signal.reason);
          log.push(change);
          knobs = { ...knobs, ...change };
          return Promise.resolve(knobs);
        },
        release: () => {
          isHeld = false;
          knobs = OWN;
          return Promise.resolve();
        },
      }),
  } as unknown as TabserveClient;
  isHeld = true;
  const abort = new AbortController();
  const comparison = compareWays(client, { lines: ['one', 'two', 'three'] }, abort.signal);
  return { comparison, abort, lost, log, knobs: () => knobs, isHeld: () => isHeld };
}

describe('a comparison of ways to embed', () => {
  it('runs the lines one by one, batched and sorted, and sets the knobs back each time', async () => {
    const { comparison, log } = setUp();
    await comparison.start();
    expect(log).toEqual([{ maxBatchSize: 1 }, OWN, { sortWindow: 1 }, OWN, { sortWindow: 128 }, OWN]);
    const { trials, isRunning } = comparison.store.getState();
    expect(trials.map(({ way, numBatches }) => [way, numBatches])).toEqual([
      [WAYS[0], 3],
      [WAYS[1], 1],
      [WAYS[2], 1],
    ]);
    expect(trials.map(({ paddingShare }) => paddingShare.toFixed(1))).toEqual(['0.2', '0.2', '0.2']);
    expect([isRunning, ...trials.map(({ difference }) => difference)]).toEqual([false, 0, 0, 0]);
    expect(describeComparison(comparison.store.getState())).toMatch(/^The vectors are the same/);
  });

  it('says by how much the vectors differ', async () => {
    const { comparison } = setUp({ skew: 0.01 });
    await comparison.start();
    expect(describeComparison(comparison.store.getState())).toBe(
      'The vectors differ by at most 0.020 in a number.',
    );
  });

  it('sets the knobs back where a trial fails, and where it is stopped', async () => {
    const failing = setUp({ failsAt: 2 });
    await failing.comparison.start();
    expect(failing.comparison.store.getState()).toMatchObject({ error: { message: 'It was lost.' } });
    expect(failing.knobs()).toEqual(OWN);
    expect(failing.isHeld()).toBe(false);
    const stopped = setUp();
    const done = stopped.comparison.start();
    stopped.abort.abort();
    await done;
    expect(stopped.knobs()).toEqual(OWN);
    expect(stopped.comparison.store.getState()).toMatchObject({ trials: [], error: undefined });
    expect(describeComparison(stopped.comparison.store.getState())).toBe('Stopped.');
  });
});

it('ends a comparison, with the reason, where the browser takes its knobs away', async () => {
  const { comparison, lost, isHeld } = setUp();
  comparison.store.subscribe(({ trials }) => {
    if (trials.length === 1) lost.abort(new Error('put away'));
  });
  await comparison.start();
  expect(comparison.store.getState()).toMatchObject({ isRunning: false, error: { message: 'put away' } });
  expect(comparison.store.getState().trials).toHaveLength(1);
  expect(isHeld()).toBe(false);
});

function trialsOf(...durations: readonly number[]): readonly EmbedTrial[] {
  return WAYS.map((way, at) => {
    const durationMs = durations[at] ?? 0;
    return { way, numTexts: 9, durationMs, numBatches: 1, paddingShare: 0, difference: 0 };
  });
}

it('says what batches gain, and claims no gain where there is none', () => {
  expect(describeGain(trialsOf(2100, 900, 600))).toBe(
    '3.5× faster: 0.6 s in sorted batches, 2.1 s one by one.',
  );
  expect(describeGain(trialsOf(1800, 900, 1000))).toBe('2.0× faster: 0.9 s in batches, 1.8 s one by one.');
  expect(describeGain(trialsOf(610, 600, 600))).toMatch(/^About the same:/);
  expect(describeGain(trialsOf(600, 800, 900))).toMatch(/^Slower in batches:/);
  expect(describeGain([])).toBe('The same lines, one by one and in batches');
});
