import { describe, expect, it } from 'vitest';

import type { BatchKnobs, TabserveClient } from '../../../client/index.ts';
import { createStatus } from '../../testing/test-support.ts';
import { describeOutcome } from './describe-outcome.ts';
import { DEFAULT_LOAD_FORM } from './load-form.ts';
import { exportLoad, LoadSession } from './load-session.ts';
import { createLoadTarget } from './load-target.ts';

const OWN: BatchKnobs = { maxBatchSize: 1024, batchWaitTimeoutMs: 0, maxConcurrentBatches: 1, sortWindow: 1 };
const FORM = {
  ...DEFAULT_LOAD_FORM,
  mode: 'run',
  arrivals: 'burst',
  burstSize: '2',
  durationSeconds: '0.5',
} as const;

/** An embedder that answers each text at once, with five tokens. */
function startSession() {
  const fake = {
    status: () => createStatus({ deployments: [{ name: 'embedder', knobs: OWN }] }),
    getHandle: () => ({
      remote: () => ({ requestId: 'r', result: () => Promise.resolve({ embedding: [1], numTokens: 5 }) }),
    }),
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a class with private fields has no other stand-in
  const target = createLoadTarget(fake as unknown as TabserveClient, 'embedder');
  const session = new LoadSession(target, undefined, FORM);
  const results = () => {
    const found = session.store.getState().results;
    if (!found) throw new Error('No results');
    return found;
  };
  return { session, target, results };
}

describe('a load test of an embedder', () => {
  it('counts the tokens that it reads', async () => {
    const { session, target, results } = startSession();
    await session.start();
    expect(results().trials[0]?.summary).toMatchObject({ numFinished: 2, numPromptTokens: 10 });
    expect(exportLoad(results(), target)).toMatchObject({ deployment: 'embedder', knobs: OWN });
  });

  it('says in which batches a run was measured', async () => {
    const { session, results } = startSession();
    await session.start();
    expect(describeOutcome(results()).title).toBe('Measured in batches of at most 1,024 tokens.');
  });
});
