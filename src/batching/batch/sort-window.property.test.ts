import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { batch } from './batch.ts';
import { settled } from './test-support.ts';
import { runsOf } from '../testing/whole-run.ts';

const numRuns = runsOf({ whole: 2000, part: 500 });

interface Call {
  readonly index: number;
  readonly length: number;
}

/** Calls arrive, or the running batch ends. */
type Action = { readonly lengths: readonly number[] } | 'end';

const MAX_TOKENS = 64;

const schedule = fc.array(
  fc.oneof(
    fc.record({
      lengths: fc.array(fc.integer({ min: 1, max: MAX_TOKENS }), { minLength: 1, maxLength: 40 }),
    }),
    fc.constant<Action>('end'),
  ),
  { minLength: 1, maxLength: 20 },
);

function paddedTokens(calls: readonly Call[]): number {
  return calls.length * Math.max(...calls.map(({ length }) => length));
}

/** Plays a schedule, and lets the rest run. Returns the batches in the order in which they were cut. */
async function play(actions: readonly Action[], sortWindow: number): Promise<readonly (readonly Call[])[]> {
  const batches: (readonly Call[])[] = [];
  let end: (() => void) | undefined;
  const call = batch<Call, number>(
    (calls) => {
      batches.push(calls);
      return new Promise((resolve) => {
        end = () => resolve(calls.map(({ index }) => index));
      });
    },
    { maxBatchSize: MAX_TOKENS, batchSizeFn: paddedTokens, sortWindow },
  );
  const answers: Promise<number>[] = [];
  for (const action of actions) {
    if (action === 'end') end?.();
    else for (const length of action.lengths) answers.push(call({ index: answers.length, length }));
    await settled();
  }
  while (call.ongoingBatches > 0) {
    end?.();
    await settled();
  }
  expect(await Promise.all(answers)).toEqual(answers.map((_, index) => index));
  return batches;
}

/** How many calls arrived after this one and left in an earlier batch. */
function numOvertaking(batches: readonly (readonly Call[])[], { index }: Call, own: number): number {
  return batches
    .slice(0, own)
    .flat()
    .filter((other) => other.index > index).length;
}

describe('a sort window', () => {
  it('lets fewer calls overtake a call than it holds, and keeps batches within their size', async () => {
    await fc.assert(
      fc.asyncProperty(schedule, fc.integer({ min: 1, max: 24 }), async (actions, sortWindow) => {
        const batches = await play(actions, sortWindow);
        for (const [own, calls] of batches.entries()) {
          expect(paddedTokens(calls)).toBeLessThanOrEqual(MAX_TOKENS);
          for (const each of calls) expect(numOvertaking(batches, each, own)).toBeLessThan(sortWindow);
        }
      }),
      { numRuns },
    );
  });

  it('makes batches of like lengths, so that less is padding', async () => {
    const lengths = Array.from({ length: 96 }, (_, index) => (index % 2 === 0 ? 4 : 32));
    const padded = async (sortWindow: number): Promise<number> => {
      const [, ...batches] = await play([{ lengths }], sortWindow);
      return batches.reduce((sum, calls) => sum + paddedTokens(calls), 0);
    };
    expect(await padded(96)).toBeLessThan(0.7 * (await padded(1)));
  });

  it('has to be a positive integer', () => {
    expect(() => batch(() => Promise.resolve([]), { sortWindow: 0 })).toThrow('sortWindow');
  });
});
