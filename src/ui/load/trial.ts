import type { BatchingPolicy } from '../../worker/protocol/protocol.ts';
import type { LoadRun } from './run-load.ts';
import type { Trace } from './scenario.ts';
import type { LoadSummary } from './summarize.ts';

/** One run among those that are compared. */
export interface Trial {
  readonly label: string;
  /** In force during the run. */
  readonly policy: BatchingPolicy;
  /** Of a rate sweep: requests per second. */
  readonly rate?: number;
  /** Of a search for knobs, which repeats its runs: from 1. */
  readonly round?: number;
  readonly trace: Trace;
  readonly run: LoadRun;
  readonly summary: LoadSummary;
}
