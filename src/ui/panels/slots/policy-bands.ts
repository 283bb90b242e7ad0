import type { PolicyChange } from '../../state/chart-history.ts';
import type { TimeSpan } from '../watch/time-span.ts';

/** A time during which one policy was in force. */
export interface PolicyBand {
  readonly policy: PolicyChange['policy'];
  /** May lie before the span. The first one known was in force before that too. */
  readonly startMs: number;
  readonly endMs: number;
  /** Neighbors differ, and a band keeps its own while the axis moves. */
  readonly isOdd: boolean;
}

/** The bands that reach into the span, oldest first. */
export function policyBands(
  policies: readonly PolicyChange[],
  { startMs, endMs }: Pick<TimeSpan, 'startMs' | 'endMs'>,
): readonly PolicyBand[] {
  return policies.flatMap(({ policy, atMs }, position) => {
    const bandEndMs = policies[position + 1]?.atMs ?? Infinity;
    const bandStartMs = position === 0 ? -Infinity : atMs;
    if (bandEndMs <= startMs || bandStartMs >= endMs) return [];
    return [{ policy, startMs: bandStartMs, endMs: bandEndMs, isOdd: position % 2 === 1 }];
  });
}
