import { describe, expect, it } from 'vitest';

import type { TracedStep } from '../../state/slot-history.ts';
import { createStepRecord } from '../../testing/test-support.ts';
import { keepExtremes } from './merge-rows.ts';
import { toStepRows } from './step-rows.ts';

const SPAN = { startMs: 0, endMs: 1000, originMs: 0 };

function createStep(
  endedAtMs: number,
  kind: 'prefill' | 'decode',
  batchSize: number,
  queueLength = 0,
): TracedStep {
  return { ...createStepRecord({ kind, batchSize, queueLength }), endedAtMs, serialIndex: 0 };
}

describe('steps', () => {
  it('are a bar each, from their start to their end', () => {
    expect(toStepRows([createStep(30, 'prefill', 2, 5)], SPAN, 1)).toEqual([
      { startedAtMs: 20, endedAtMs: 30, decode: null, prefill: 2, numWaiting: 5 },
    ]);
  });

  it('that share a pixel are one bar, as high as the highest of each kind', () => {
    const steps = [
      createStep(110, 'decode', 3, 1),
      createStep(120, 'prefill', 2, 4),
      createStep(130, 'decode', 8),
      createStep(510, 'decode', 1),
    ];
    expect(toStepRows(steps, SPAN, 2)).toEqual([
      { startedAtMs: 100, endedAtMs: 130, decode: 8, prefill: 2, numWaiting: 4 },
      { startedAtMs: 500, endedAtMs: 510, decode: 1, prefill: null, numWaiting: 0 },
    ]);
  });

  it('are no more bars than pixels, however many they are', () => {
    const steps = Array.from({ length: 20_000 }, (_, index) => createStep(index / 20, 'decode', index % 9));
    expect(toStepRows(steps, SPAN, 400).length).toBeLessThanOrEqual(401);
  });

  it('keep their neighbors while the axis moves', () => {
    const steps = [createStep(480, 'decode', 1), createStep(520, 'decode', 2), createStep(560, 'decode', 3)];
    const moved = { startMs: 130, endMs: 1130, originMs: 0 };
    expect(toStepRows(steps, moved, 2)).toEqual(toStepRows(steps, SPAN, 2));
  });
});

describe('values of a line', () => {
  it('that share a pixel are its lowest and its highest one, in their order', () => {
    const rows = [5, 9, 1, 4].map((value, index) => ({ endedAtMs: index, value }));
    const kept = keepExtremes(rows, ({ value }) => value, { originMs: 0, pixelMs: 100 });
    expect(kept.map(({ value }) => value)).toEqual([9, 1]);
  });

  it('alone in their pixel stay', () => {
    const rows = [5, 5].map((value, index) => ({ endedAtMs: index * 100, value }));
    expect(keepExtremes(rows, ({ value }) => value, { originMs: 0, pixelMs: 100 })).toEqual(rows);
  });
});
