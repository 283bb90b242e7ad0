import type { JobInfo } from '../../protocol/jobs.ts';

/** A job of one row, which has finished. */
export function jobInfo(given: Partial<JobInfo> = {}): JobInfo {
  return {
    id: 'j1',
    createdAt: '',
    source: 'rows',
    deployment: 'text-generator',
    isChat: false,
    options: {},
    seed: 0,
    columns: ['a'],
    name: 'Job',
    state: 'finished',
    counts: { total: 1, finished: 1, failed: 0 },
    numRetries: 0,
    ...given,
  };
}
