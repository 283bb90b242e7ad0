import { numRowsFor } from '../../jobs/row-rules.ts';
import type { JobCall } from '../../jobs/service/job-calls.ts';
import type { CallAnswer } from '../../protocol/call-answers.ts';
import type { JobServer } from '../../jobs/service/job-runner.ts';
import type { JobService } from '../../jobs/service/job-service.ts';
import { handleCall, type CallMessage } from '../../protocol/calls.ts';
import { asClientId, type ClientId } from '../../protocol/ids.ts';
import { namesOf } from '../../protocol/names.ts';
import type { RequestUpdate } from '../../protocol/requests.ts';
import type { BatchingPolicy, WorkerStatus } from '../../protocol/status.ts';
import { importPart } from '../base/import-part.ts';
import type { RequestRouter } from './request-router.ts';
import type { TabMessages } from './tab-messages.ts';

/** The client whose requests are rows of jobs. */
const JOBS = asClientId('jobs');

interface JobsPartOptions {
  /** The app's name. */
  readonly app: string | undefined;
  readonly router: () => Pick<RequestRouter, 'submit' | 'cancel'>;
  readonly tabs: TabMessages;
  readonly status: () => WorkerStatus;
  readonly policy: () => BatchingPolicy;
  readonly tokenTexts: JobServer['tokenTexts'];
}

/** Runs jobs as one more client of this worker. Their code is imported when the worker has started, or at the first call. */
export class JobsPart {
  readonly #options: JobsPartOptions;
  #opening: Promise<JobService> | undefined;
  #service: JobService | undefined;

  constructor(options: JobsPartOptions) {
    this.#options = options;
  }

  /** Takes the updates of its rows. Returns false for those of a tab. */
  receive(clientId: ClientId, updates: readonly RequestUpdate[]): boolean {
    if (clientId === JOBS) this.#service?.receive(updates);
    return clientId === JOBS;
  }

  /** After a failure, the next call tries again. @throws JobStoreError. */
  open(): Promise<JobService> {
    this.#opening ??= this.#open();
    this.#opening.catch(() => (this.#opening = undefined));
    return this.#opening;
  }

  async answer<Name extends JobCall>(call: CallMessage<Name>): Promise<CallAnswer<Name>> {
    const { calls } = await this.open();
    return handleCall<Name>(calls, call);
  }

  /** Call it after each change of the status. */
  schedule(): void {
    this.#service?.schedule();
  }

  async #open(): Promise<JobService> {
    const { app, router, tabs, status, policy, tokenTexts } = this.#options;
    const { openJobs } = await importPart(() => import('../jobs/opfs-job-store.ts'));
    this.#service = await openJobs(namesOf(app).storageFolder, {
      status,
      publish: (jobs, deletedIds) => tabs.toAll({ type: 'jobs', jobs, deletedIds }),
      server: {
        numRowsFor: (deployment) => numRowsFor(deployment, policy()),
        submit: (requestId, { deployment, input, options }) =>
          router().submit({ clientId: JOBS, deployment, isBackground: true, updates: 'end' }, [
            { requestId, input, options, elapsedMs: 0 },
          ]),
        cancel: (requestId) => router().cancel(requestId, JOBS),
        tokenTexts,
      },
    });
    this.#service.schedule();
    return this.#service;
  }
}
