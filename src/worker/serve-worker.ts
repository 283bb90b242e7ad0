import { systemClock } from '../batching/clock.ts';
import { createBatchMetrics } from '../batching/metrics/batch-metrics.ts';
import { createGenerationMetrics } from '../batching/metrics/generation-metrics.ts';
import { toPrometheusText } from '../batching/metrics/prometheus.ts';
import { MetricsRegistry } from '../batching/metrics/registry.ts';
import { BatchedDeployment, type Answer } from './deployments/batched-deployment.ts';
import type { AnyDeployment } from './deployments/deployment.ts';
import { UnknownDeploymentError } from './deployments/errors.ts';
import { TextGeneratorDeployment } from './deployments/text-generator-deployment.ts';
import { createWorkerId } from './ids.ts';
import { importPart } from './import-part.ts';
import type { EndedStatus, ModelSwitch } from './model-switch.ts';
import {
  END_TYPES,
  PROTOCOL_VERSION,
  type BackendChoice,
  type ClientId,
  type ClientMessage,
  type KnobSettings,
  type RequestId,
  type RequestUpdate,
  type Unsigned,
  type WorkerMessage,
  type WorkerStatus,
  TEXT_GENERATOR,
} from './protocol.ts';
import { StatsReporter } from './stats-reporter.ts';
import { ActivityLog } from './tabs/activity-log.ts';
import { BatchLog } from './tabs/batch-log.ts';
import type { Outbox } from './tabs/outbox.ts';
import { RequestLedger } from './tabs/request-ledger.ts';
import { toWireError } from './wire-errors.ts';

/** Codes of requests that were never accepted; any other failure is the handler's. */
const REFUSAL_CODES: ReadonlySet<string> = new Set([
  'BACK_PRESSURE',
  'CLOSED',
  'INVALID_OPTION',
  'ITEM_TOO_LARGE',
  'UNKNOWN_OPTION',
]);

/** The worker's side of the wire: loads the model, passes requests to their deployment and answers back. */
export class ServeWorker {
  readonly #workerId = createWorkerId();
  readonly #outbox: Outbox;
  readonly #textGenerator: TextGeneratorDeployment;
  readonly #batched: ReadonlyMap<string, BatchedDeployment>;
  readonly #registry = new MetricsRegistry();
  readonly #batchMetrics = createBatchMetrics(this.#registry);
  readonly #ledger = new RequestLedger();
  readonly #activity: ActivityLog;
  readonly #batchLog = new BatchLog();
  /** Tabs that know this worker. What others send was meant for the one before it: they send it again once they do. */
  readonly #welcomed = new Set<ClientId>();
  /** Set once the worker has started; its code comes by itself, so that the tabs are greeted before it is here. */
  #models: Promise<ModelSwitch> | undefined;
  #knobsRevision = 0;
  #status: WorkerStatus;

  constructor(deployments: readonly AnyDeployment[], outbox: Outbox) {
    this.#outbox = outbox;
    this.#activity = new ActivityLog(systemClock, (activity) =>
      this.#postToAll({ type: 'activity', activity }),
    );
    const metrics = createGenerationMetrics(this.#registry, TEXT_GENERATOR);
    const stats = new StatsReporter(systemClock, metrics, {
      gauges: () => this.#textGenerator.gauges,
      send: (value) => this.#postToAll({ type: 'stats', stats: value }),
    });
    this.#textGenerator = new TextGeneratorDeployment(stats, (updates) => this.#postUpdates(updates));
    this.#batched = new Map(deployments.map((deployment) => [deployment.name, this.#serve(deployment)]));
    this.#status = { state: 'loading', knobs: this.#knobs, numTabs: 0 };
  }

  /** Lets the tabs know, and loads the model. Resolves when it serves, or is known not to. */
  async start(modelUrl: string, backend: BackendChoice): Promise<void> {
    this.announce();
    this.#models = importPart(() => import('./model-switch.ts')).then(
      ({ ModelSwitch: Models }) =>
        new Models({
          modelUrl,
          backend,
          generator: this.#textGenerator,
          onStatus: (change, over) => this.#changeStatus(change, over),
        }),
    );
    try {
      const { started } = await this.#models;
      await started;
    } catch (cause) {
      const error = toWireError(cause);
      this.#changeStatus({ state: 'failed', error }, ['progress']);
      this.#textGenerator.fail(error);
    }
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
        this.#welcome(message.clientId);
        break;
      case 'submit':
        this.#submit(message);
        break;
      case 'cancel':
        if (this.#ledger.ownerOf(message.requestId) === message.clientId) this.#cancel(message.requestId);
        break;
      case 'configure':
        this.#answer(message, () => this.#configure(message.deployment, message.knobs));
        break;
      case 'metrics':
        this.#answer(message, () => toPrometheusText(this.#registry.snapshot()));
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

  /** Cancels all that a tab has left behind. */
  forget(clientId: ClientId): void {
    this.#welcomed.delete(clientId);
    for (const requestId of this.#ledger.requestsOf(clientId)) this.#cancel(requestId);
  }

  setNumTabs(numTabs: number): void {
    this.#setStatus({ numTabs });
  }

  get #knobs(): KnobSettings {
    return {
      revision: this.#knobsRevision,
      policy: this.#textGenerator.policy,
      deployments: [...this.#batched].map(([name, { knobs }]) => ({ name, knobs })),
    };
  }

  #serve(deployment: AnyDeployment): BatchedDeployment {
    let batchIndex = 0;
    const { name } = deployment;
    const served: BatchedDeployment = new BatchedDeployment(deployment, systemClock, {
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
    });
    return served;
  }

  #submit(message: Extract<ClientMessage, { type: 'submit' }>): void {
    const { requestId, clientId, deployment, input, options, elapsedMs, resumption } = message;
    if (!this.#ledger.add(requestId, clientId)) return;
    const numResumedTokens = (resumption?.choices ?? []).reduce(
      (sum, { tokenIds }) => sum + tokenIds.length,
      0,
    );
    this.#activity.recordSubmitted(message, numResumedTokens);
    const batched = this.#batched.get(deployment);
    if (deployment === TEXT_GENERATOR) {
      this.#textGenerator.submit({ requestId, clientId, prompt: input, options, elapsedMs, resumption });
    } else if (batched) {
      batched.submit({ requestId, clientId, input, options });
    } else {
      const error = toWireError(this.#unknown(deployment));
      this.#postUpdates([{ type: 'failed', requestId, error }]);
    }
  }

  #configure(deployment: string, knobs: unknown): unknown {
    if (deployment === TEXT_GENERATOR) {
      const policy = this.#textGenerator.configure(knobs);
      this.#countKnobChange();
      return policy;
    }
    const batched = this.#batched.get(deployment);
    if (!batched) throw this.#unknown(deployment);
    const inForce = batched.configure(knobs);
    this.#countKnobChange();
    return inForce;
  }

  #countKnobChange(): void {
    this.#knobsRevision += 1;
    this.#setStatus({ knobs: this.#knobs });
  }

  /** Takes over what was set in a worker that is gone. */
  #adopt({ revision, policy, deployments }: KnobSettings): void {
    if (revision <= this.#knobsRevision) return;
    this.#knobsRevision = revision;
    ignoreRefusal(() => this.#textGenerator.configure(policy));
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
      const models = await this.#models;
      const result = models && (await ask(models));
      this.#answer(call, () => result);
    } catch (error) {
      this.#answer(call, () => {
        throw error;
      });
    }
  }

  #changeStatus(change: Partial<WorkerStatus>, over: readonly EndedStatus[]): void {
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
    for (const [clientId, own] of this.#byOwner(updates)) this.#tell(clientId, own);
  }

  #postAnswers(answers: readonly Answer[]): void {
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
      if (END_TYPES.has(update.type)) this.#ledger.end(update.requestId);
    }
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

/** Knobs of a tab that has other deployments, or other limits, are none of this worker's. */
function ignoreRefusal(configure: () => unknown): void {
  try {
    configure();
  } catch {
    // The knobs in force stay.
  }
}
