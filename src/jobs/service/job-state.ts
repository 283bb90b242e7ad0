import type { JobState } from '../../protocol/jobs.ts';
import type { WireError } from '../../protocol/wire.ts';
import { toWireError } from '../../protocol/wire-errors.ts';
import type { StoredJob } from './stored-job.ts';
import { jobEndsWorkers, jobFilesLost, jobStoreFailed } from '../../protocol/errors/job-messages.ts';

/** Why a job doesn't run now: an error, or a model that is still being loaded. */
export type Obstacle = WireError | 'loading' | undefined;

/** An error of a job itself, not of one row. */
export function damageOf(job: StoredJob): WireError | undefined {
  if (job.isDamaged) return toWireError(jobStoreFailed('rows of the job are lost'));
  if (job.endsWorkers) return toWireError(jobEndsWorkers());
  return job.isLost ? toWireError(jobFilesLost()) : undefined;
}

export function stateOf(job: StoredJob, obstacle: Obstacle, isRunning: boolean): JobState {
  if (job.isDamaged) return 'failed';
  if (job.isDone) return 'finished';
  if (job.isCancelled) return 'cancelled';
  if (job.isPaused || job.endsWorkers || (obstacle !== undefined && obstacle !== 'loading')) return 'paused';
  return isRunning ? 'running' : 'queued';
}
