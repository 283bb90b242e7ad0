import type { BatchingPolicy } from '../../worker/protocol/protocol.ts';
import type { LoadRun } from './run-load.ts';
import type { Trace } from './scenario.ts';
import type { LoadSummary } from './summarize.ts';

/** One run of an experiment. */
export interface Trial {
  readonly label: string;
  /** In force during the run. */
  readonly policy: BatchingPolicy;
  /** Requests per second, in a rate sweep. */
  readonly rate?: number;
  /** From 1, in a search for knobs. */
  readonly round?: number;
  readonly trace: Trace;
  readonly run: LoadRun;
  readonly summary: LoadSummary;
}
