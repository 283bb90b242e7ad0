import { systemClock, type Clock } from '../../batching/base/clock.ts';
import { ModelRunError } from '../../batching/base/errors.ts';
import { everyRunFailed } from '../../batching/generation/generation-errors.ts';
import type { TurnOwner } from '../../batching/queue/request-queue.ts';
import { checkLevels } from '../../platform/check-levels.ts';
import type { ActivityLog } from '../logs/activity-log.ts';
import type { ServingLog } from '../logs/serving-log.ts';
import { asClientId, type ClientId, type RequestId } from '../../protocol/ids.ts';
import {
  END_TYPES,
  type RequestUpdate,
  type SubmittedRequest,
  type TurnInfo,
} from '../../protocol/requests.ts';
import { TEXT_GENERATOR } from '../../protocol/generation.ts';
import { toWireError } from '../../protocol/wire-errors.ts';
import type { DeploymentSet } from './deployments/deployment-set.ts';
import type { ServeWorkerHost } from './reports/host-reports.ts';
import type { OpenTabs } from './reports/open-tabs.ts';
import type { RequestRegistry } from './reports/request-registry.ts';
import type { TabMessages } from './tab-messages.ts';

const UNSENDABLE = "The answer can't be sent to the caller: return plain data from the handler.";

/** The fields that all requests of a submission share. */
interface Submitting extends TurnInfo {
  readonly clientId: ClientId;
  readonly deployment: string;
}

export interface RequestRouterParts {
  readonly registry: RequestRegistry;
  readonly deployments: DeploymentSet;
  readonly tabs: TabMessages;
  readonly openTabs: OpenTabs;
  readonly activity: ActivityLog;
  /** Makes an entry. */
  readonly log: Pick<ServingLog, 'recordEnd'>;
  readonly host: ServeWorkerHost;
  /** Takes the updates of rows of jobs. Returns false for those of a tab. */
  readonly receiveRows: (clientId: ClientId, updates: readonly RequestUpdate[]) => boolean;
}

/** Passes each request to its deployment once, and sends its updates to its client. */
export class RequestRouter {
  readonly #parts: RequestRouterParts;
  readonly #paced: PacedUpdates;

  constructor(parts: RequestRouterParts) {
    this.#parts = parts;
    this.#paced = new PacedUpdates(systemClock, (clientId, updates) => this.#send(clientId, updates));
  }

  /** Submits the new requests of one turn. They are accepted together or not at all. */
  submit(
    { clientId, deployment, updates, isBackground, ...turnInfo }: Submitting,
    requests: readonly SubmittedRequest[],
  ): void {
    const wasIdle = this.#parts.registry.isEmpty;
    const fresh = requests.filter((request) => this.#parts.registry.add(request, clientId, turnInfo.caller));
    if (fresh.length === 0) return;
    if (wasIdle) this.#parts.host.tell({ type: 'busy' });
    // Only the bridge names a caller, for each of its requests.
    const isHttp = turnInfo.caller && (true as const);
    const tab = this.#parts.openTabs.numberOf(clientId);
    const sender = {
      clientId,
      deployment,
      ...(isHttp && { isHttp }),
      ...(tab !== undefined && { tab }),
    };
    for (const request of fresh) {
      const { requestId, input } = request;
      this.#parts.activity.recordSubmitted({ requestId, input, ...sender }, numResumedTokensOf(request));
    }
    const isFatal = ({ requestId }: SubmittedRequest): boolean =>
      this.#parts.host.past.fatalIds.includes(requestId);
    this.#fail(fresh.filter(isFatal), this.#fatalError(deployment));
    const good = fresh.filter((request) => !isFatal(request));
    try {
      this.#parts.deployments.submitAll(
        deployment,
        good.map((request) => ({
          ...request,
          ...turnOwnerOf(clientId, request.requestId, turnInfo),
          isBackground: isBackground === true,
          updates,
        })),
      );
    } catch (error) {
      this.#fail(good, error);
    }
  }

  /** Does nothing for a request of another client. */
  cancel(requestId: RequestId, clientId: ClientId): void {
    if (this.#parts.registry.ownerOf(requestId) === clientId) this.#parts.deployments.cancel(requestId);
  }

  /** Cancels the requests of a client that is gone. */
  forget(clientId: ClientId): void {
    this.#parts.registry.forget(clientId);
    for (const requestId of this.#parts.registry.requestsOf(clientId))
      this.#parts.deployments.cancel(requestId);
  }

  /** Sends one message per client for all of its requests. Tokens of short steps share a message. */
  post(updates: readonly RequestUpdate[]): void {
    const byOwner = Map.groupBy(updates, ({ requestId }) => this.#parts.registry.ownerOf(requestId));
    for (const [clientId, own] of byOwner) {
      if (clientId === undefined) continue;
      // Cloning an answer may fail, so an answer shares no message with tokens.
      if (own[0]?.type === 'answered') this.#send(clientId, own);
      else this.#paced.post(clientId, own);
    }
  }

  /** Sends all held tokens. */
  flush(): void {
    this.#paced.flush();
  }

  /** An answer that cannot be cloned fails only its own request, not the whole message. */
  #send(clientId: ClientId, updates: readonly RequestUpdate[]): void {
    try {
      for (const update of updates) if (update.type === 'answered') checkLevels(update.result);
      if (!this.#parts.receiveRows(clientId, updates))
        this.#parts.tabs.toClient(clientId, { type: 'updates', updates });
    } catch (cause) {
      const [first, ...others] = updates;
      if (first?.type !== 'answered') throw cause;
      if (others.length === 0) this.#fail([first], new Error(UNSENDABLE));
      else for (const update of updates) this.#send(clientId, [update]);
      return;
    }
    for (const update of updates) {
      const activity = this.#parts.activity.recordUpdate(update);
      if (!END_TYPES.has(update.type)) continue;
      const request = this.#parts.registry.end(update.requestId);
      if (activity && request) {
        const durationMs = systemClock.now() - request.submittedAtMs;
        this.#parts.log.recordEnd(update, { activity, caller: request.caller, durationMs });
      }
      if (this.#parts.registry.isEmpty) this.#parts.host.tell({ type: 'idle' });
    }
  }

  /** The error of a request that has killed several workers in a row. */
  #fatalError(deployment: string): ModelRunError {
    const remedy =
      deployment === TEXT_GENERATOR ? 'shorten the prompt, or change its options' : 'change its input';
    return everyRunFailed(this.#parts.host.past.recovery?.message ?? '', remedy);
  }

  #fail(requests: readonly Pick<SubmittedRequest, 'requestId'>[], cause: unknown): void {
    const error = toWireError(cause);
    this.post(requests.map(({ requestId }) => ({ type: 'failed', requestId, error })));
  }
}

function numResumedTokensOf({ resumption }: SubmittedRequest): number | undefined {
  return resumption?.choices.reduce((sum, { tokenIds }) => sum + tokenIds.length, 0);
}

/**
 * Clients take turns in the queue. Each peer of the bridge counts as a client. Within a peer, its keys take turns; within a key, its
 * users; and within a user, the HTTP requests.
 */
function turnOwnerOf(
  clientId: ClientId,
  requestId: RequestId,
  { turnId = requestId, caller = [] }: TurnInfo,
): TurnOwner {
  const [peer, ...inner] = caller;
  const turn = [...inner, turnId];
  return peer === undefined ? { clientId, turn } : { clientId: asClientId(`${clientId}/${peer}`), turn };
}

/** Two frames of a display at 60 Hz. A reader does not notice the wait. */
const INTERVAL_MS = 33;

/** The time until a client gets further tokens: `INTERVAL_MS` after its last message. */
interface Pause {
  readonly sinceMs: number;
  readonly held: RequestUpdate[];
  readonly cancelTimer: () => void;
}

/**
 * Sends each client its updates in order, and tokens at most every 33 ms, so that short steps share a message. A message costs about
 * the same with one token as with a hundred. A request's first token and all other updates are sent at once, after the held tokens.
 * Tokens of a step that takes longer than 33 ms are never held.
 */
export class PacedUpdates {
  readonly #clock: Clock;
  readonly #send: (clientId: ClientId, updates: readonly RequestUpdate[]) => void;
  readonly #pauses = new Map<ClientId, Pause>();

  constructor(clock: Clock, send: (clientId: ClientId, updates: readonly RequestUpdate[]) => void) {
    this.#clock = clock;
    this.#send = send;
  }

  post(clientId: ClientId, updates: readonly RequestUpdate[]): void {
    const pause = this.#pauses.get(clientId);
    // The clock is read too, because a browser may throttle timers.
    const canWait = pause && this.#clock.now() - pause.sinceMs < INTERVAL_MS && updates.every(isLaterToken);
    if (canWait) pause.held.push(...updates);
    else this.#sendNow(clientId, [...this.#endPause(clientId), ...updates]);
  }

  /** Sends all held updates. */
  flush(): void {
    for (const clientId of this.#pauses.keys()) {
      const held = this.#endPause(clientId);
      if (held.length > 0) this.#send(clientId, held);
    }
  }

  #sendNow(clientId: ClientId, updates: readonly RequestUpdate[]): void {
    const cancelTimer = this.#clock.setTimer(INTERVAL_MS, () => {
      const held = this.#endPause(clientId);
      if (held.length > 0) this.#sendNow(clientId, held);
    });
    this.#pauses.set(clientId, { sinceMs: this.#clock.now(), held: [], cancelTimer });
    this.#send(clientId, updates);
  }

  /** Removes and returns the held updates. */
  #endPause(clientId: ClientId): readonly RequestUpdate[] {
    const pause = this.#pauses.get(clientId);
    this.#pauses.delete(clientId);
    pause?.cancelTimer();
    return pause?.held ?? [];
  }
}

function isLaterToken(update: RequestUpdate): boolean {
  return update.type === 'chunk' && update.ttftMs === undefined;
}
