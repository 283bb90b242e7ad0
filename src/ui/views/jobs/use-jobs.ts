import { useEffect, useState } from 'react';

import type { Job, JobInfo } from '../../../client/index.ts';
import { useServe } from '../../state/serve-context.ts';

/** A job with its state at one moment. */
export interface JobView {
  readonly job: Job;
  readonly info: JobInfo;
  /** No other job runs, and none that waits is older. */
  readonly isNext: boolean;
}

/** All stored jobs of all tabs, the latest first. Undefined until they are known. */
export function useJobs(): readonly JobView[] | undefined {
  const { serve } = useServe();
  const [views, setViews] = useState<readonly JobView[]>();
  useEffect(
    () =>
      serve.jobs.subscribe((jobs) => {
        const isNext = (at: number): boolean =>
          jobs.every(
            ({ info: { state } }, other) => state !== 'running' && (other <= at || state !== 'queued'),
          );
        setViews(jobs.map((job, at) => ({ job, info: job.info, isNext: isNext(at) })));
      }),
    [serve],
  );
  return views;
}
