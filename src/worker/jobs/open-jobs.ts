import { JobService, type JobServiceHost } from '../../jobs/service/job-service.ts';
import { OpfsJobStore } from './opfs-job-store.ts';

/** Opens the jobs of the app on this device. @param root Name of the app's folder. @throws JobStoreError. */
export function openJobs(root: string, host: JobServiceHost): Promise<JobService> {
  return JobService.open(new OpfsJobStore(root), host);
}
