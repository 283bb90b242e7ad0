import { useEffect, useState } from 'react';

import type { Job, JobInfo } from '../../../client/index.ts';
import { useServe } from '../../state/serve-context.ts';

/** A job with its state at one moment. */
export interface JobView {
  readonly job: Job;
  readonly info: JobInfo;
}

/** All stored jobs of all tabs, the latest first. Undefined until they are known. */
export function useJobs(): readonly JobView[] | undefined {
  const { serve } = useServe();
  const [views, setViews] = useState<readonly JobView[]>();
  useEffect(
    () => serve.jobs.subscribe((jobs) => setViews(jobs.map((job) => ({ job, info: job.info })))),
    [serve],
  );
  return views;
}
