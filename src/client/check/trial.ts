import { createClientId, type ClientId } from '../../protocol/ids.ts';
import type { BackendChoice } from '../../protocol/ladder.ts';
import type { OpenLink } from '../links/link.ts';
import { openSoloLink } from '../links/open-link.ts';
import type { WorkerSource } from '../links/worker-host.ts';
import type { CheckedClient } from './checked-client.ts';

/** A worker of the check's own, which loads the model that serves. */
export interface Trial {
  readonly serve: CheckedClient;
  /** Ends the worker in the middle of what it does. The next one goes on with its requests. */
  readonly endWorker: () => void;
}

/** Makes a client at the other end of a link. */
export type CreateClient = (clientId: ClientId, open: OpenLink) => CheckedClient;

/** @param source How the tab makes its workers: the check makes one in the same way, for itself alone. */
export function openTrial(
  { createWorker, app, model, dtype }: WorkerSource,
  backend: BackendChoice,
  createClient: CreateClient,
): Trial {
  let worker: ReturnType<typeof createWorker> | undefined;
  const host: WorkerSource = {
    createWorker: () => (worker = createWorker()),
    ...(app !== undefined && { app }),
    model,
    dtype,
    backend,
    isTrial: true,
  };
  const clientId = createClientId();
  const serve = createClient(clientId, (listener) =>
    openSoloLink({ clientId, host, page: globalThis, reason: '' }, listener),
  );
  return {
    serve,
    endWorker() {
      worker?.terminate();
      // Browsers report no such end, so the host hears of it as of a crash.
      if (worker instanceof EventTarget)
        worker.dispatchEvent(new ErrorEvent('error', { message: 'a check has ended it' }));
    },
  };
}
