import type { JobCall } from '../../../jobs/service/job-calls.ts';
import { JobService, type JobServiceHost } from '../../../jobs/service/job-service.ts';
import { MemoryJobStore } from '../../../jobs/service/memory-job-store.ts';
import { handleCall } from '../../../protocol/calls.ts';
import { asClientId } from '../../../protocol/ids.ts';
import type { RequestUpdate } from '../../../protocol/requests.ts';
import { PROTOCOL_VERSION } from '../../../protocol/wire.ts';
import type { Outgoing } from '../link.ts';

const CLIENT = asClientId('jobs');

/** The jobs of a client of a server. They are kept in memory, and their rows are requests of this client. */
export class ServerJobs {
  readonly #service: JobService;

  private constructor(service: JobService) {
    this.#service = service;
  }

  static async open(host: JobServiceHost): Promise<ServerJobs> {
    return new ServerJobs(await JobService.open(new MemoryJobStore(), host));
  }

  schedule(): void {
    this.#service.schedule();
  }

  close(): void {
    this.#service.close();
  }

  receive(updates: readonly RequestUpdate[]): void {
    this.#service.receive(updates);
  }

  /** The caller may change what it has passed, as if it had been sent to a worker. */
  answer(call: Extract<Outgoing, { readonly type: JobCall }>): unknown {
    const signed = { version: PROTOCOL_VERSION, clientId: CLIENT, ...structuredClone(call) } as const;
    return handleCall<JobCall>(this.#service.calls, signed);
  }
}
