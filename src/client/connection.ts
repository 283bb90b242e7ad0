import { ClosedError } from '../batching/base/errors.ts';
import { DEFAULT_POLICY } from '../batching/generation/policy.ts';
import { EMBEDDER, RERANKER } from '../protocol/embedding.ts';
import { TEXT_GENERATOR } from '../protocol/generation.ts';
import { OverrideEndedError, VersionMismatchError } from '../protocol/errors/tabs.ts';
import { PROTOCOL_VERSION } from '../protocol/wire.ts';
import type { BatchKnobs, TabNumbers, TabserveStatus, TabRole, WorkerStatus } from '../protocol/status.ts';
import type { ClientId, WorkerId } from '../protocol/ids.ts';
import type { WorkerMessage } from '../protocol/worker-messages.ts';
import { toWireError } from '../protocol/wire-errors.ts';
import type { Link, LinkListener, OpenLink, Outgoing } from './links/link.ts';
import type { KnobOverride } from './knob-override.ts';
import type { Topics } from './topics.ts';

type Welcome = Extract<WorkerMessage, { type: 'welcome' }>;

export interface ConnectionListener {
  /** Whether requests or calls are not answered yet. */
  readonly isWaiting: boolean;
  /** A worker has welcomed this client. All outstanding requests and calls go to it. */
  onWelcome(message: Welcome): void;
  /** Called for messages of the worker that has welcomed this client. */
  onMessage(message: Exclude<WorkerMessage, Welcome>): void;
  /** No answers will come, unless a worker welcomes this client again. */
  onEnd(reason: Error): void;
}

const INITIAL_STATUS: TabserveStatus = {
  state: 'loading',
  role: 'follower',
  policy: DEFAULT_POLICY,
  deployments: [],
  tabs: [],
  numTabs: 0,
  isHandover: false,
  isolationReason: '',
  waitReason: '',
};

const NO_LEADER =
  'No tab leads, and this one may not (canLead: false). Requests wait until a tab of this app that can lead is open.';

/** After this time without a word, another tab takes over. A thread that has nothing to do answers within milliseconds. */
const PATIENCE_MS = 3000;
/** While a worker starts, it and its page may be busy at the same time. */
const START_PATIENCE_MS = 10_000;

/** Deployments whose steps may block the worker. */
const MODEL_DEPLOYMENTS = [TEXT_GENERATOR, EMBEDDER, RERANKER];

/** Says hello to each new worker, and keeps the status. */
export class Connection implements LinkListener {
  readonly #clientId: ClientId;
  readonly #link: Link;
  readonly #topics: Topics;
  readonly #listener: ConnectionListener;
  /** The last override of this client. It may have ended. */
  override: Pick<KnobOverride<BatchKnobs>, 'overrideId' | 'held' | 'signal' | 'end'> | undefined;
  #status: TabserveStatus;
  #workerStatus: WorkerStatus | undefined;
  /** The worker that has welcomed this client. Messages of others are dropped. */
  #workerId: WorkerId | undefined;
  /** The last worker that this client has said hello to. */
  #greetedWorkerId: WorkerId | undefined;
  /** Whether this client has left a worker for one that has not welcomed it yet. */
  #hasLeft = false;
  #foreignVersion: number | undefined;
  #isOpen = false;
  #end: Error | undefined;

  constructor(clientId: ClientId, open: OpenLink, topics: Topics, listener: ConnectionListener) {
    this.#clientId = clientId;
    this.#topics = topics;
    this.#listener = listener;
    this.#link = open(this);
    this.#status = { ...INITIAL_STATUS, isolationReason: this.#link.isolationReason };
  }

  get status(): TabserveStatus {
    return this.#status;
  }

  get patienceMs(): number | undefined {
    if (this.#end || this.#status.state === 'closed') return undefined;
    if (this.isServed && !this.#listener.isWaiting) return undefined;
    if (!this.isServed || this.#status.state !== 'ready') return START_PATIENCE_MS;
    // A worker is deaf during a step, and its page while it shows a dialog.
    const steps = MODEL_DEPLOYMENTS.flatMap((name) => this.#topics.batchLog.of(name));
    return PATIENCE_MS + Math.max(0, ...steps.map(({ executionMs }) => executionMs));
  }

  get tabNumbers(): TabNumbers {
    const { tabs = [], last = 0 } = this.#workerStatus?.tabs ?? {};
    return { tabs, leader: this.#clientId, last };
  }

  /** Whether a worker takes messages now. */
  get isServed(): boolean {
    return this.#workerId !== undefined;
  }

  /** Why no answers will come. Requests and calls are rejected with it. */
  get end(): Error | undefined {
    return this.#end;
  }

  /** Does nothing while no worker serves. @throws DataCloneError. */
  post(message: Outgoing): void {
    if (this.isServed) this.#link.post(message);
  }

  close(): void {
    if (this.#status.state === 'closed') return;
    this.#link.close();
    this.#endWith(ClosedError.ofClient());
    this.#setStatus({ state: 'closed' });
  }

  onOpen(): void {
    this.#isOpen = true;
    this.#greet();
  }

  onInterrupted(): void {
    this.#isOpen = false;
    this.#workerId = undefined;
    this.#greetedWorkerId = undefined;
  }

  onSuspend(): void {
    void this.override?.end(OverrideEndedError.bySuspension());
  }

  onRole(role: TabRole): void {
    const { error, ...status } = this.#status;
    const isStarting = role === 'leader' && (this.isServed || error !== undefined);
    this.#status = isStarting ? { ...status, role, state: 'loading' } : { ...this.#status, role };
    this.#setStatus({ isHandover: isStarting && this.isServed });
  }

  onLeader(isThere: boolean): void {
    if (this.#end || (!isThere && this.#status.waitReason === NO_LEADER)) return;
    if (isThere) {
      this.#setStatus({ waitReason: '' });
      return;
    }
    const { error: _error, ...status } = this.#status;
    const isHandover = this.isServed || this.#hasLeft || status.isHandover;
    this.#workerId = undefined;
    this.#greetedWorkerId = undefined;
    this.#status = status;
    this.#setStatus({ state: 'loading', isHandover, waitReason: NO_LEADER });
  }

  onForeignWorker(version: number): void {
    if (version === this.#foreignVersion || this.#status.state === 'closed') return;
    this.#foreignVersion = version;
    const error = VersionMismatchError.of(version, PROTOCOL_VERSION);
    // An older tab has to reload. A newer one waits, and leads once the last older tab is gone.
    if (version > PROTOCOL_VERSION) this.#endWith(error);
    this.#setStatus({ state: 'failed', error: toWireError(error) });
  }

  onFailure(error: Error): void {
    this.#endWith(error);
    this.#setStatus({ state: 'failed', error: toWireError(error) });
  }

  onMessage(message: WorkerMessage): void {
    if (this.#status.state === 'closed') return;
    if (message.type === 'welcome') {
      this.#join(message);
    } else if (message.workerId === this.#workerId) {
      this.#forgetForeignWorker();
      if (message.type === 'status') this.#setWorkerStatus(message.status, this.#status.isHandover);
      this.#listener.onMessage(message);
    } else if (message.workerId !== this.#greetedWorkerId) {
      this.#greetedWorkerId = message.workerId;
      // The worker before may only have been suspended. None of its tokens count from here on.
      this.#hasLeft ||= this.isServed;
      this.#workerId = undefined;
      this.#greet();
    }
  }

  #greet(): void {
    if (!this.#isOpen) return;
    const knobs = this.#workerStatus?.knobs;
    const override = this.override?.held;
    const model = this.#workerStatus?.model;
    // The next worker doesn't begin with a temporary model.
    const modelBefore = model?.isTemporary ? undefined : model?.id;
    this.#link.post({
      type: 'hello',
      ...(knobs && { knobs }),
      ...(override && { override }),
      ...(modelBefore !== undefined && { modelBefore }),
    });
  }

  #join(message: Welcome): void {
    const { workerId, status } = message;
    if (workerId === this.#workerId) return;
    const isHandover = this.isServed || this.#hasLeft || this.#status.isHandover;
    this.#hasLeft = false;
    this.#workerId = workerId;
    this.#foreignVersion = undefined;
    this.#end = undefined;
    this.#topics.restore(message);
    this.#setWorkerStatus(status, isHandover);
    const held = this.override?.held;
    // A worker that took over may hold another tab's override instead.
    if (held && held.overrideId !== status.override?.overrideId)
      void this.override?.end(OverrideEndedError.byHandOver());
    this.#listener.onWelcome(message);
  }

  /** This client's worker is running, so no older one serves. If a newer one serves, this one is about to end. */
  #forgetForeignWorker(): void {
    if (this.#foreignVersion === undefined || this.#foreignVersion > PROTOCOL_VERSION) return;
    this.#foreignVersion = undefined;
    if (this.#workerStatus) this.#setWorkerStatus(this.#workerStatus, false);
  }

  #endWith(reason: Error): void {
    this.#end = reason;
    void this.override?.end(reason);
    this.#listener.onEnd(reason);
  }

  #setWorkerStatus(workerStatus: WorkerStatus, isHandover: boolean): void {
    this.#workerStatus = workerStatus;
    const { knobs, override, tabs, ...status } = workerStatus;
    const { role, isolationReason } = this.#status;
    const isStarting = status.state === 'loading' || status.state === 'warming-up';
    const isOwn = override?.overrideId === this.override?.overrideId;
    const held = override?.knobs;
    const heldPolicy = held && 'policy' in held ? held : undefined;
    const deployments = knobs.deployments.map((info) =>
      held && !('policy' in held) && info.name === override?.deployment ? { ...info, knobs: held } : info,
    );
    this.#status = {
      ...status,
      role,
      tabs: tabs.tabs.map(({ clientId, number }) => ({
        number,
        isThis: clientId === this.#clientId,
        isLeader: clientId === tabs.leader,
      })),
      numTabs: tabs.tabs.length,
      policy: heldPolicy ?? knobs.policy,
      ...(heldPolicy && { override: { isOwn, basePolicy: knobs.policy } }),
      deployments,
      isHandover: isHandover && isStarting,
      isolationReason,
      waitReason: '',
    };
    this.#topics.publish('status', this.#status);
  }

  #setStatus(change: Partial<TabserveStatus>): void {
    this.#status = { ...this.#status, ...change };
    this.#topics.publish('status', this.#status);
  }
}
