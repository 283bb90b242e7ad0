import { describe, expect, it } from 'vitest';

import type { BatchKnobs, TabserveClient } from '../../../client/index.ts';
import { createStatus } from '../../testing/test-support.ts';
import { describeOutcome } from './describe-outcome.ts';
import { DEFAULT_LOAD_FORM, type Mode } from './load-form.ts';
import { exportLoad, LoadSession } from './load-session.ts';
import { createLoadTarget } from './load-target.ts';

const OWN: BatchKnobs = { maxBatchSize: 1024, batchWaitTimeoutMs: 0, maxConcurrentBatches: 1, sortWindow: 1 };
const FORM = { ...DEFAULT_LOAD_FORM, arrivals: 'burst', burstSize: '2', durationSeconds: '0.5' } as const;

/** An embedder that answers each text at once, with five tokens. */
function startSession(mode: Mode) {
  let knobs = OWN;
  const configured: BatchKnobs[] = [];
  const fake = {
    status: () => createStatus({ deployments: [{ name: 'embedder', knobs }] }),
    overrideKnobs: () =>
      Promise.resolve({
        signal: new AbortController().signal,
        change: (changed: Partial<BatchKnobs>) => {
          knobs = { ...knobs, ...changed };
          configured.push(knobs);
          return Promise.resolve(knobs);
        },
        release: () => {
          knobs = OWN;
          configured.push(knobs);
          return Promise.resolve();
        },
      }),
    getHandle: () => ({
      remote: () => ({ requestId: 'r', result: () => Promise.resolve({ embedding: [1], numTokens: 5 }) }),
    }),
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a class with private fields has no other stand-in
  const target = createLoadTarget(fake as unknown as TabserveClient, 'embedder');
  const session = new LoadSession(target, undefined, { ...FORM, mode });
  const results = () => {
    const found = session.store.getState().results;
    if (!found) throw new Error('No results');
    return found;
  };
  return { session, target, configured, results };
}

describe('a load test of an embedder', () => {
  it('compares its ways to batch by the tokens that it reads, and sets its knobs back', async () => {
    const { session, target, configured, results } = startSession('compare');
    await session.start();
    expect(
      results().trials.map(({ label, summary }) => [label, summary.numFinished, summary.numPromptTokens]),
    ).toEqual(['one by one', 'batched', 'batched, sorted by length'].map((label) => [label, 2, 10]));
    expect(results().trials[0]?.summary.tokensPerSecond).toBeGreaterThan(0);
    expect(configured.map(({ maxBatchSize, sortWindow }) => [maxBatchSize, sortWindow])).toEqual([
      [1, 1],
      [1024, 1],
      [1024, 128],
      [1024, 1],
    ]);
    expect(exportLoad(results(), target)).toMatchObject({ deployment: 'embedder', knobs: OWN });
  });

  it('sets its knobs back where it is stopped in the middle', async () => {
    const { session, configured, results } = startSession('compare');
    session.store.subscribe((view) => view.results?.trials.length === 1 && session.stop());
    await session.start();
    expect(results().trials).toHaveLength(1);
    expect(configured.at(-1)).toEqual(OWN);
  });

  it('says in which batches a run was measured', async () => {
    const { session, configured, results } = startSession('run');
    await session.start();
    expect(describeOutcome(results()).title).toBe('Measured in batches of at most 1,024 tokens.');
    expect(configured).toEqual([]);
  });
});
