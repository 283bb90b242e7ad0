import { describe, expect, it } from 'vitest';

import type { Run } from '../../state/run.ts';
import { createServeStore, recordedView } from '../../state/serve-store.ts';
import { createReport, createStatus, createStepRecord } from '../../testing/test-support.ts';
import { figuresOf, isRunning } from './run-figures.ts';

function createView(run: Run | undefined) {
  const view = recordedView(createServeStore(createStatus()));
  const steps = [9, 2, 5, 4].map((batchSize, stepIndex) =>
    createStepRecord({ stepIndex, batchSize, agoMs: 100 - stepIndex * 10 }),
  );
  view.history.slots.record(...createReport({ steps }, 1000));
  return { ...view, runs: { prompts: run } };
}

describe('the figures', () => {
  it('are of the run: the peak so far, no step before it', () => {
    const view = createView({ startedAtMs: 905, requestIds: [] });
    expect(isRunning(view)).toBe(true);
    expect(figuresOf(view)).toMatchObject({ peakBatchSize: 5, ttftMs: undefined });
  });

  it('are of the last run while the engine is idle, computed once', () => {
    const run = { startedAtMs: 905, endedAtMs: 980, requestIds: [] };
    const view = createView(run);
    expect(isRunning(view)).toBe(false);
    expect(figuresOf(view)).toMatchObject({ peakBatchSize: 5, itlMs: { p50: 10, p95: 10 } });
    expect(figuresOf({ ...view })).toBe(figuresOf(view));
  });

  it('are unknown before the first run', () => {
    expect(figuresOf(createView(undefined))).toEqual({});
  });
});
