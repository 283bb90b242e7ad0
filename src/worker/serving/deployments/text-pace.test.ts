import { describe, expect, it } from 'vitest';

import { settled } from '../../../batching/batch/test-support.ts';
import { FakeClock } from '../../../batching/testing/fake-clock.ts';
import { TextPace } from './text-pace.ts';

const STEP_MS = 10;
const NUM_TOKENS = 400;

/** Times between the tokens of a text while batches run one after another, as far as they may. */
async function streamBeside(batchMs: number, isTextRunning = true) {
  const clock = new FakeClock();
  const pace = new TextPace(clock, () => isTextRunning);
  pace.recordStep({ kind: 'prefill', stepMs: 1 });
  pace.recordStep({ kind: 'decode', stepMs: STEP_MS });
  // It waited for a batch.
  pace.recordStep({ kind: 'decode', stepMs: 5 * STEP_MS });
  const gapsMs: number[] = [];
  let [gapMs, numBatches] = [0, 0];
  const runAll = async (): Promise<void> => {
    while (gapsMs.length < NUM_TOKENS)
      await pace.run(async () => {
        clock.advance(batchMs);
        gapMs += batchMs;
        numBatches += 1;
        // The step that waits takes its turn.
        await settled();
      });
  };
  const running = runAll();
  while (gapsMs.length < NUM_TOKENS) {
    clock.advance(STEP_MS);
    gapsMs.push(gapMs + STEP_MS);
    gapMs = 0;
    await settled();
  }
  clock.advance(1e6);
  await running;
  return { p95Ms: gapsMs.toSorted((a, b) => a - b)[Math.floor(0.95 * NUM_TOKENS)] ?? NaN, numBatches, pace };
}

describe('the pace of batches beside a text', () => {
  it.each([1, 5, 10, 20, 21, 35, 60, 150, 199, 500])(
    'keeps the p95 between tokens within three steps for batches of %i ms, which go on',
    async (batchMs) => {
      const { p95Ms, numBatches } = await streamBeside(batchMs);
      expect(p95Ms).toBeLessThanOrEqual(3 * STEP_MS);
      expect(numBatches * batchMs).toBeGreaterThan(0.03 * NUM_TOKENS * STEP_MS);
    },
  );

  it('gives a batch as long as the shortest decode step, and any time without a text', async () => {
    expect((await streamBeside(10)).pace.roomMs).toBe(STEP_MS);
    const idle = new TextPace(new FakeClock(), () => false);
    idle.recordStep({ kind: 'decode', stepMs: STEP_MS });
    expect(idle.roomMs).toBe(Infinity);
  });
});
