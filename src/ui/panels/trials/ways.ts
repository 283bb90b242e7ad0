import type { BatchKnobs } from '../../../client/index.ts';

/** For the way that sorts, if the knob is at 1. */
const SORT_WINDOW = 128;

export type Way = 'one by one' | 'batched' | 'batched, sorted by length';

/** How texts are embedded to compare the times. */
export const WAYS: readonly Way[] = ['one by one', 'batched', 'batched, sorted by length'];

/** @param own The user's knobs. */
export function knobsOfWay(way: Way, own: BatchKnobs): Partial<BatchKnobs> {
  if (way === 'one by one') return { maxBatchSize: 1 };
  return { sortWindow: way === 'batched' ? 1 : Math.max(own.sortWindow ?? 1, SORT_WINDOW) };
}
