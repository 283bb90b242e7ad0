import { systemClock } from '../../batching/clock.ts';
import { ModelRunError } from '../../batching/errors.ts';
import type { TurnOwner } from '../../batching/generation/request-queue.ts';
import { createBatchMetrics } from '../../batching/metrics/batch-metrics.ts';
import { createGenerationMetrics } from '../../batching/metrics/generation-metrics.ts';
import { toPrometheusText } from '../../batching/metrics/prometheus.ts';
import { MetricsRegistry } from '../../batching/metrics/registry.ts';
import {
  BatchedDeployment,
  type Answer,
  type BatchedDeploymentListener,
} from '../deployments/batched-deployment.ts';
import type { AnyDeployment } from '../deployments/deployment.ts';
import { UnknownDeploymentError } from '../protocol/errors/deployments.ts';
import { TextGenerator } from '../text-generation/text-deployment.ts';
import { createWorkerId } from '../protocol/ids.ts';
import { importPart } from '../platform/import-part.ts';
import type { EndedStatus, ModelSwitch } from './model-switch.ts';
import { PolicyBook } from './policy-book.ts';
import { UpstreamError } from '../protocol/errors/upstream.ts';
import {
  END_TYPES,
  PROTOCOL_VERSION,
  type BackendChoice,
  type BatchingPolicy,
  type ClientId,
  type ClientMessage,
  type Fault,
  type FaultKind,
  type HeldOverride,
  type HostMessage,
  type KnobSettings,
  type Recovery,
  type RequestId,
  type RequestUpdate,
  type SubmittedRequest,
  type TurnSigns,
  type Unsigned,
  type UpstreamInit,
  type WorkerMessage,
  type WorkerPast,
  type WorkerStatus,
  TEXT_GENERATOR,
} from '../protocol/protocol.ts';
import { faultOf } from './fault-of.ts';
import { StatsReporter } from './stats-reporter.ts';
import { ActivityLog } from './activity-log.ts';
import { BatchLog } from './batch-log.ts';
import type { Outbox } from './outbox.ts';
import { RequestLedger } from './request-ledger.ts';
import { StepLog } from './step-log.ts';
import { turnOwnerOf } from './turn-owner.ts';
import { toWireError } from '../protocol/wire-errors.ts';

/** Codes of requests that were never accepted; any other failure is the handler's. */
const REFUSAL_CODES: ReadonlySet<string> = new Set([
  'BACK_PRESSURE',
  'CLOSED',
  'INVALID_OPTION',
  'ITEM_TOO_LARGE',
  'UNKNOWN_OPTION',
]);

/** What a worker has to do with the tab that made it. */
export interface ServeWorkerHost {
  /** What came before this worker. */
  readonly past: WorkerPast;
  /** Says something to the tab that made it, and to no other. */
  tell(message: Unsigned<HostMessage>): void;
}

/** What a submission says of itself, whatever the number of its requests. */
interface Submitting extends TurnSigns {
  readonly clientId: ClientId;
  readonly deployment: string;
}

/** The worker before this one did not say whose step had ended it. */
const SPEECHLESS: ReadonlySet<FaultKind> = new Set(['worker-error', 'worker-hang', 'worker-ended']);

/** The worker's side of the wire: loads the model, passes requests to their deployment and answers back. */
export class ServeWorker {
  readonly #workerId = createWorkerId();
  readonly #outbox: Outbox;
  readonly #host: ServeWorkerHost;
  readonly #condemned: ReadonlySet<RequestId>;
  readonly #textGenerator: TextGenerator;
  readonly #stats: StatsReporter;
  readonly #batched: ReadonlyMap<string, BatchedDeployment>;
  readonly #registry = new MetricsRegistry();
  readonly #batchMetrics = createBatchMetrics(this.#registry);
  readonly #ledger = new RequestLedger();
  readonly #activity: ActivityLog;
  readonly #batchLog = new BatchLog();
  readonly #stepLog = new StepLog();
  /** Tabs that know this worker. What others send was meant for the one before it: they send it again once they do. */
  readonly #welcomed = new Set<ClientId>();
  /** Set once the worker has started; its code comes by itself, so that the tabs are greeted before it is here. */
  #models: Promise<ModelSwitch> | undefined;
  /** Answers for the text generator, where there is one. */
  #upstream: UpstreamInit | undefined;
  /** Requests that wait or run and have a token of this worker. */
  readonly #advanced = new Set<RequestId>();
  /** Whose step the host was told of last, where it is told. */
  #announced: readonly RequestId[] = [];
  #hasProgressed = false;
  #hasFailed = false;
  readonly #policies: PolicyBook;
  #knobsRevision = 0;
  #status: WorkerStatus;

  constructor(deployments: readonly AnyDeployment[], outbox: Outbox, host: ServeWorkerHost) {
    const { recovery, maxRows, condemned } = host.past;
    this.#outbox = outbox;
    this.#host = host;
    this.#condemned = new Set(condemned);
    this.#activity = new ActivityLog(systemClock, (activity) =>
      this.#postToAll({ type: 'activity', activity }),
    );
    const metrics = createGenerationMetrics(this.#registry, TEXT_GENERATOR);
    this.#stats = new StatsReporter(systemClock, metrics, {
      gauges: () => this.#textGenerator.gauges,
      send: (value) => {
        this.#stepLog.addRecords(value.steps);
        this.#postToAll({ type: 'stats', stats: value });
      },
    });
    const isAnnouncing = recovery !== undefined && SPEECHLESS.has(recovery.kind);
    this.#textGenerator = new TextGenerator(this.#stats, (updates) => this.#postUpdates(updates), {
      onFault: (cause, requestIds) => this.fail(faultOf(cause), requestIds),
      ...(isAnnouncing && { onStepBegun: (requestIds) => this.#announceStep(requestIds) }),
      ...(maxRows !== undefined && { maxRows }),
    });
    this.#policies = new PolicyBook(this.#textGenerator);
    this.#batched = new Map(deployments.map((deployment) => [deployment.name, this.#serve(deployment)]));
    this.#status = { state: 'loading', knobs: this.#knobs, numTabs: 0, ...(recovery && { recovery }) };
  }

  /** How long it may be silent, ms. */
  get patienceMs(): number {
    return this.#textGenerator.patienceMs;
  }

  /**
   * Nothing can be done here any more: its host is to replace it. What it has is told to nobody, so that all goes on in the next
   * worker.
   *
   * @param requestIds Of the step that failed.
   */
  fail(fault: Fault, requestIds: readonly RequestId[]): void {
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    const before = this.#hasProgressed ? 0 : (this.#host.past.recovery?.attempt ?? 0);
    const recovery: Recovery = { ...fault, attempt: before + 1 };
    this.#changeStatus({ state: 'loading', recovery }, ['progress']);
    this.#host.tell({
      type: 'fault',
      fault,
      stalledIds: this.#stalledOf(requestIds),
      numRunning: this.#textGenerator.gauges.numRunning,
    });
  }

  /**
   * Lets the tabs know, and loads the model, unless there is an upstream and the backend is `auto`. Resolves when it serves, or
   * is known not to.
   */
  async start(modelUrl: string, backend: BackendChoice, upstream?: UpstreamInit): Promise<void> {
    this.announce();
    try {
      await (upstream && backend === 'auto'
        ? this.#serveUpstream(upstream)
        : this.#serveModels(modelUrl, backend));
    } catch (cause) {
      const error = toWireError(cause);
      this.#changeStatus({ state: 'failed', error }, ['progress']);
      this.#textGenerator.fail(error);
    }
    this.#host.tell({ type: 'ready' });
  }

  /** Tells all tabs which worker serves: those that do not know it yet say hello. */
  announce(): void {
    this.#postToAll({ type: 'serving' });
  }

  receive(message: ClientMessage): void {
    if (message.type !== 'hello' && !this.#welcomed.has(message.clientId)) return;
    switch (message.type) {
      case 'hello':
        if (message.knobs) this.#adopt(message.knobs);
        if (message.override) this.#carryOn(message.clientId, message.override);
        this.#welcome(message.clientId);
        break;
      case 'submit':
        this.#submit(message, [message]);
        break;
      case 'submit-all':
        this.#submit(message, message.requests);
        break;
      case 'cancel':
        if (this.#ledger.ownerOf(message.requestId) === message.clientId) this.#cancel(message.requestId);
        break;
      case 'configure':
        this.#answer(message, () => this.#configure(message.deployment, message.knobs));
        break;
      case 'set-override':
        this.#answer(message, () => this.#setOverride(message));
        break;
      case 'release-override':
        this.#answer(message, () => this.#showPolicy(this.#policies.release(message.overrideId)));
        break;
      case 'metrics':
        this.#answer(message, () => toPrometheusText(this.#registry.snapshot()));
        break;
      case 'token-texts':
        void this.#answerLater(message, (models) => models.textsOf(message.tokenIds));
        break;
      case 'tokenize':
        void this.#answerLater(message, (models) => models.tokenize(message.text, message.addSpecialTokens));
        break;
      case 'detokenize':
        void this.#answerLater(message, (models) => models.detokenize(message.tokenIds));
        break;
      case 'load-model':
        void this.#answerLater(message, (models) => models.load(message));
        break;
      case 'steer-load':
        void this.#models?.then((models) => models.steer(message.action));
        break;
      case 'list-models':
        void this.#answerLater(message, (models) => models.list());
        break;
      case 'delete-model':
        void this.#answerLater(message, (models) => models.delete(message.key));
        break;
      default:
        message satisfies never;
    }
  }

  /** Cancels all that a tab has left behind, its override included. One that comes back may send it again. */
  forget(clientId: ClientId): void {
    this.#welcomed.delete(clientId);
    for (const requestId of this.#ledger.requestsOf(clientId)) this.#cancel(requestId);
    this.#ledger.forgetEnded(clientId);
    this.#showPolicy(this.#policies.forget(clientId));
  }

  setNumTabs(numTabs: number): void {
    this.#setStatus({ numTabs });
  }

  get #knobs(): KnobSettings {
    return {
      revision: this.#knobsRevision,
      policy: this.#policies.base,
      deployments: [...this.#batched].map(([name, { knobs }]) => ({ name, knobs })),
    };
  }

  async #serveModels(modelUrl: string, backend: BackendChoice): Promise<void> {
    this.#models = importPart(() => import('./model-switch.ts')).then(
      ({ ModelSwitch: Models }) =>
        new Models({
          modelUrl,
          backend,
          past: this.#host.past,
          generator: this.#textGenerator,
          onStatus: (change, over) => this.#changeStatus(change, over),
          onRung: (rung) => this.#host.tell({ type: 'on-rung', rung }),
          onFault: (cause) => this.fail(faultOf(cause), []),
        }),
    );
    const { started } = await this.#models;
    await started;
  }

  #serve(deployment: AnyDeployment): BatchedDeployment {
    let batchIndex = 0;
    const { name } = deployment;
    const listener: BatchedDeploymentListener = {
      onFault: (cause, requestIds) => this.fail(faultOf(cause), requestIds),
      onFailed: (requestId, cause) => {
        const error = toWireError(cause);
        if (error.code === 'REQUEST_CANCELLED') this.#batchMetrics.onCancelled(name);
        else if (REFUSAL_CODES.has(error.code)) this.#batchMetrics.onRejected(name, error.code);
        this.#postUpdates([{ type: 'failed', requestId, error }]);
      },
      onQueueWait: (queueWaitMs) => this.#batchMetrics.onQueueWait(name, queueWaitMs),
      onBatch: (event, answers) => {
        const { queueLength } = served;
        this.#batchMetrics.onBatch(name, event, queueLength);
        const batch = { ...event, deployment: name, batchIndex, queueLength };
        this.#batchLog.add(batch);
        this.#postToAll({ type: 'batch', batch });
        batchIndex += 1;
        this.#postAnswers(answers);
      },
    };
    const { maxRows } = this.#host.past;
    const served = new BatchedDeployment(deployment, systemClock, listener, maxRows);
    return served;
  }

  /** Requests of one turn: those that are new here are accepted together, or not at all. */
  #submit({ clientId, deployment, ...signs }: Submitting, requests: readonly SubmittedRequest[]): void {
    const wasIdle = this.#ledger.isEmpty;
    const fresh = requests.filter(({ requestId }) => this.#ledger.add(requestId, clientId));
    if (fresh.length === 0) return;
    if (wasIdle) this.#host.tell({ type: 'busy' });
    for (const { requestId, input, resumption } of fresh) {
      const numResumedTokens = (resumption?.choices ?? []).reduce(
        (sum, { tokenIds }) => sum + tokenIds.length,
        0,
      );
      this.#activity.recordSubmitted({ requestId, clientId, deployment, input }, numResumedTokens);
    }
    const good = fresh.filter(({ requestId }) => !this.#condemned.has(requestId));
    if (good.length < fresh.length) this.#failCondemned(deployment, fresh);
    this.#handOn(deployment, good, (requestId) => turnOwnerOf(clientId, requestId, signs));
  }

  #failCondemned(deployment: string, requests: readonly SubmittedRequest[]): void {
    const detail = this.#host.past.recovery?.message ?? '';
    const remedy =
      deployment === TEXT_GENERATOR ? 'shorten the prompt, or change its options' : 'change its input';
    const error = toWireError(ModelRunError.ofEvery(detail, remedy));
    for (const { requestId } of requests)
      if (this.#condemned.has(requestId)) this.#postUpdates([{ type: 'failed', requestId, error }]);
  }

  #handOn(
    deployment: string,
    requests: readonly SubmittedRequest[],
    ownerOf: (requestId: RequestId) => TurnOwner,
  ): void {
    const batched = this.#batched.get(deployment);
    const owned = requests.map((request) => ({ ...request, ...ownerOf(request.requestId) }));
    if (deployment === TEXT_GENERATOR) this.#textGenerator.submitAll(owned);
    else if (batched) batched.submitAll(owned);
    else {
      const error = toWireError(this.#unknown(deployment));
      this.#postUpdates(requests.map(({ requestId }) => ({ type: 'failed', requestId, error })));
    }
  }

  async #serveUpstream(upstream: UpstreamInit): Promise<void> {
    this.#upstream = upstream;
    const { serveUpstream } = await importPart(() => import('../text-generation/upstream/serve-upstream.ts'));
    await serveUpstream({
      upstream,
      deployment: this.#textGenerator,
      stats: this.#stats,
      onStatus: (change, isOver) => this.#changeStatus(change, isOver ? ['error'] : []),
    });
  }

  #configure(deployment: string, knobs: unknown): unknown {
    if (deployment === TEXT_GENERATOR) {
      this.#refuseUnderUpstream();
      const policy = this.#policies.configure(knobs);
      this.#countKnobChange();
      return policy;
    }
    const batched = this.#batched.get(deployment);
    if (!batched) throw this.#unknown(deployment);
    const inForce = batched.configure(knobs);
    this.#countKnobChange();
    return inForce;
  }

  /** @throws UpstreamError: it batches by itself. */
  #refuseUnderUpstream(): void {
    if (this.#upstream) throw UpstreamError.serves(this.#upstream.url, 'How requests are batched');
  }

  #setOverride(message: Extract<ClientMessage, { type: 'set-override' }>): BatchingPolicy {
    this.#refuseUnderUpstream();
    const { clientId, overrideId, knobs } = message;
    const policy = this.#policies.setOverride(clientId, overrideId, knobs);
    this.#showPolicy(true);
    return policy;
  }

  /** Goes on with an override that its tab held at a worker that is gone; another one may have come first. */
  #carryOn(clientId: ClientId, { overrideId, policy }: HeldOverride): void {
    ignoreRefusal(() => this.#policies.setOverride(clientId, overrideId, policy));
    this.#showPolicy(true);
  }

  #showPolicy(hasChanged: boolean): void {
    if (!hasChanged) return;
    const { override } = this.#policies;
    this.#changeStatus({ knobs: this.#knobs, ...(override && { override }) }, ['override']);
  }

  #countKnobChange(): void {
    this.#knobsRevision += 1;
    this.#setStatus({ knobs: this.#knobs });
  }

  /** Takes over what was set in a worker that is gone. */
  #adopt({ revision, policy, deployments }: KnobSettings): void {
    if (revision <= this.#knobsRevision) return;
    this.#knobsRevision = revision;
    ignoreRefusal(() => this.#policies.configure(policy));
    for (const { name, knobs } of deployments) {
      ignoreRefusal(() => this.#batched.get(name)?.configure(knobs));
    }
    this.#setStatus({ knobs: this.#knobs });
  }

  #welcome(clientId: ClientId): void {
    this.#welcomed.add(clientId);
    this.#postTo(clientId, {
      type: 'welcome',
      status: this.#status,
      activity: this.#activity.live,
      batches: this.#batchLog.all,
      ...(this.#stepLog.all.length > 0 && { steps: this.#stepLog.all }),
    });
  }

  #cancel(requestId: RequestId): void {
    this.#textGenerator.cancel(requestId);
    for (const deployment of this.#batched.values()) deployment.cancel(requestId);
  }

  #unknown(name: string): UnknownDeploymentError {
    return UnknownDeploymentError.of(name, [TEXT_GENERATOR, ...this.#batched.keys()]);
  }

  #answer(
    { clientId, callId }: { readonly clientId: ClientId; readonly callId: number },
    call: () => unknown,
  ): void {
    try {
      this.#postTo(clientId, { type: 'call-answered', callId, result: call() });
    } catch (error) {
      this.#postTo(clientId, { type: 'call-refused', callId, error: toWireError(error) });
    }
  }

  async #answerLater(
    call: { readonly clientId: ClientId; readonly callId: number },
    ask: (models: ModelSwitch) => Promise<unknown>,
  ): Promise<void> {
    try {
      if (this.#upstream) throw UpstreamError.serves(this.#upstream.url, 'Which model runs');
      const models = await this.#models;
      const result = models && (await ask(models));
      this.#answer(call, () => result);
    } catch (error) {
      this.#answer(call, () => {
        throw error;
      });
    }
  }

  #changeStatus(change: Partial<WorkerStatus>, over: readonly (EndedStatus | 'override')[]): void {
    const status = { ...this.#status };
    for (const name of over) delete status[name];
    this.#status = status;
    this.#setStatus(change);
  }

  #setStatus(change: Partial<WorkerStatus>): void {
    this.#status = { ...this.#status, ...change };
    this.#postToAll({ type: 'status', status: this.#status });
  }

  /** One message per tab, whatever the number of its requests. */
  #postUpdates(updates: readonly RequestUpdate[]): void {
    this.#recordTokens(updates);
    for (const [clientId, own] of this.#byOwner(updates)) this.#tell(clientId, own);
  }

  /** Those that wait or run and have no token of this worker. */
  #stalledOf(requestIds: readonly RequestId[]): readonly RequestId[] {
    return requestIds.filter((id) => this.#ledger.ownerOf(id) !== undefined && !this.#advanced.has(id));
  }

  #announceStep(requestIds: readonly RequestId[]): void {
    this.#announced = requestIds;
    this.#host.tell({ type: 'step', requestIds, stalledIds: this.#stalledOf(requestIds) });
  }

  #recordTokens(updates: readonly RequestUpdate[]): void {
    const generated = updates.filter(hasGenerated).map(({ requestId }) => requestId);
    const firsts = generated.filter((id) => !this.#advanced.has(id));
    for (const requestId of firsts) this.#advanced.add(requestId);
    // The step after a request's first one may have been announced before its token was there.
    if (firsts.some((id) => this.#announced.includes(id))) this.#announceStep(this.#announced);
    if (generated.length > 0) this.#recordProgress();
  }

  /** A batch says nothing of a model that prompts wait for, and that may bring down worker after worker. */
  #recordAnswers(): void {
    const { numRunning, numWaiting } = this.#textGenerator.gauges;
    if (this.#status.state === 'ready' && numRunning + numWaiting === 0) this.#recordProgress();
  }

  #recordProgress(): void {
    if (this.#hasProgressed) return;
    this.#hasProgressed = true;
    this.#host.tell({ type: 'progress' });
  }

  #postAnswers(answers: readonly Answer[]): void {
    if (answers.length > 0) this.#recordAnswers();
    const updates = answers.map((answer): RequestUpdate => ({ type: 'answered', ...answer }));
    for (const [clientId, own] of this.#byOwner(updates)) this.#tellAnswers(clientId, own);
  }

  /** An answer that cannot be cloned fails its own caller; the message would otherwise fail for the whole batch. */
  #tellAnswers(clientId: ClientId, updates: readonly RequestUpdate[]): void {
    try {
      this.#tell(clientId, updates);
    } catch (cause) {
      const [only] = updates;
      if (updates.length > 1 || !only) {
        for (const update of updates) this.#tellAnswers(clientId, [update]);
        return;
      }
      const error = new Error(
        `The answer cannot be sent (${String(cause)}): return plain data from the handler.`,
      );
      this.#tell(clientId, [{ type: 'failed', requestId: only.requestId, error: toWireError(error) }]);
    }
  }

  #tell(clientId: ClientId, updates: readonly RequestUpdate[]): void {
    this.#postTo(clientId, { type: 'updates', updates });
    for (const update of updates) {
      this.#activity.recordUpdate(update);
      if (END_TYPES.has(update.type)) this.#end(update.requestId, this.#welcomed.has(clientId));
    }
  }

  /** @param isReplayable See `RequestLedger.end`. */
  #end(requestId: RequestId, isReplayable: boolean): void {
    this.#ledger.end(requestId, isReplayable);
    this.#advanced.delete(requestId);
    if (this.#ledger.isEmpty) this.#host.tell({ type: 'idle' });
  }

  #byOwner(updates: readonly RequestUpdate[]): ReadonlyMap<ClientId, readonly RequestUpdate[]> {
    const byOwner = new Map<ClientId, RequestUpdate[]>();
    for (const update of updates) {
      const clientId = this.#ledger.ownerOf(update.requestId);
      if (clientId === undefined) continue;
      const own = byOwner.get(clientId) ?? [];
      own.push(update);
      byOwner.set(clientId, own);
    }
    return byOwner;
  }

  #postTo(clientId: ClientId, message: Unsigned<WorkerMessage>): void {
    this.#outbox.toClient(clientId, { version: PROTOCOL_VERSION, workerId: this.#workerId, ...message });
  }

  #postToAll(message: Unsigned<WorkerMessage>): void {
    this.#outbox.toAll({ version: PROTOCOL_VERSION, workerId: this.#workerId, ...message });
  }
}

/** Whether it has come further: an upstream need not tell its tokens, and a text may end before its first one. */
function hasGenerated(update: RequestUpdate): boolean {
  if (update.type === 'chunk') return update.tokenIds.length > 0 || update.text !== '';
  return update.type === 'finished';
}

/** Knobs of a tab that has other deployments, or other limits, are none of this worker's. */
function ignoreRefusal(configure: () => unknown): void {
  try {
    configure();
  } catch {
    // The knobs in force stay.
  }
}
