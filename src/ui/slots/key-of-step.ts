import type { RequestStep } from '../state/slot-history.ts';

/** What no other step has: another engine counts its steps anew. */
export function keyOfStep({ endedAtMs, stepIndex }: RequestStep): string {
  return `${endedAtMs}#${stepIndex}`;
}
