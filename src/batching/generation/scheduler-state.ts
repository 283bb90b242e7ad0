import type { BatchingPolicy } from './policy.ts';
import type { RunningSequences } from './running-sequences.ts';
import type { SequenceLimits } from './sequence.ts';

/** What the parts of the scheduler share. */
export interface SchedulerState {
  /** Replaced as a whole when a knob is turned. */
  policy: BatchingPolicy;
  readonly limits: SequenceLimits;
  readonly running: RunningSequences;
}
