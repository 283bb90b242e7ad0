import { systemClock } from '../../batching/base/clock.ts';
import { RuntimeLostError } from '../../batching/generation/runtime-lost-error.ts';
import { createBatchMetrics } from '../../batching/metrics/batch-metrics.ts';
import { createGenerationMetrics } from '../../batching/metrics/generation-metrics.ts';
import { MetricsRegistry } from '../../batching/metrics/registry.ts';
import { BatchedDeployment, type BatchedDeploymentListener } from './deployments/batched-deployment.ts';
import { EncoderDeployment } from './deployments/encoder-deployment.ts';
import { embedTask } from '../embedding/embed-task.ts';
import { rerankTask } from '../embedding/rerank-task.ts';
import type { EncoderTask } from '../embedding/encoder-task.ts';
import type { AnyDeployment } from '../../protocol/deployment.ts';
import { ActivityLog } from '../logs/activity-log.ts';
import { ServingLog } from '../logs/serving-log.ts';
import { BatchLog, stepBatchOf } from '../../protocol/batch-log.ts';
import { StatsReporter } from '../../protocol/stats-reporter.ts';
import { TEXT_GENERATOR } from '../../protocol/generation.ts';
import type { StepBatch } from '../../protocol/stats.ts';
import type { BackendChoice } from '../../protocol/ladder.ts';
import type { ClientId } from '../../protocol/ids.ts';
import type { CallAnswer, CallName } from '../../protocol/call-answers.ts';
import { isJobCall } from '../../jobs/service/job-calls.ts';
import { handleCall, type CallMessage } from '../../protocol/calls.ts';
import type { ClientMessage, UnreadMessage } from '../../protocol/client-messages.ts';
import type { FirstModelInit } from '../../protocol/host-messages.ts';
import type { RequestUpdate } from '../../protocol/requests.ts';
import { PROTOCOL_VERSION } from '../../protocol/wire.ts';
import { toWireError } from '../../protocol/wire-errors.ts';
import { TextDeployment } from '../text-generation/text-deployment.ts';
import { TextPace } from './deployments/text-pace.ts';
import { DeploymentSet } from './deployments/deployment-set.ts';
import { HostReports, type ServeWorkerHost } from './reports/host-reports.ts';
import { Knobs } from './deployments/knobs.ts';
import { ModelService } from './models/model-service.ts';
import { JobsPart } from './jobs-part.ts';
import { type Outbox, TabMessages } from './tab-messages.ts';
import { createOwnCalls, isModelCall, type OwnCalls } from './deployments/own-calls.ts';
import { OpenTabs } from './reports/open-tabs.ts';
import { RequestRegistry } from './reports/request-registry.ts';
import { RequestRouter } from './request-router.ts';
import { StatusPublisher } from './reports/status-publisher.ts';

/** Error codes of requests that were never accepted. Any other failure is the handler's. */
const REFUSAL_CODES: ReadonlySet<string> = new Set([
  'BACK_PRESSURE',
  'CLOSED',
  'HANDLER_HUNG',
  'INVALID_OPTION',
  'ITEM_TOO_LARGE',
  'UNKNOWN_OPTION',
]);

/** The worker's end of the channels: wires its parts, and passes each message to the part that handles it. */
export class ServeWorker {
  readonly #host: ServeWorkerHost;
  readonly #reports: HostReports;
  readonly #tabs: TabMessages;
  readonly #requests = new RequestRegistry();
  readonly #openTabs: OpenTabs;
  readonly #router: RequestRouter;
  readonly #knobs: Knobs;
  readonly #status: StatusPublisher;
  readonly #textGenerator: TextDeployment;
  readonly #textPace = new TextPace(systemClock, () => this.#textGenerator.gauges.numRunning > 0);
  readonly #metrics = new MetricsRegistry();
  readonly #activity: ActivityLog;
  readonly #log = new ServingLog(Date.now);
  readonly #batchLog = new BatchLog();
  readonly #stepLog = new BatchLog<StepBatch>();
  readonly #models: ModelService;
  readonly #calls: OwnCalls;
  readonly #jobs: JobsPart;

  constructor(deployments: readonly AnyDeployment[], outbox: Outbox, host: ServeWorkerHost) {
    const { recovery } = host.past;
    const tabs = new TabMessages(host.workerId, outbox);
    this.#jobs = new JobsPart({
      app: host.app,
      router: () => this.#router,
      tabs,
      status: () => this.#status.current,
      policy: () => this.#textGenerator.knobs,
      tokenTexts: (tokenIds) => this.#models.tokenTexts(tokenIds),
    });
    this.#host = host;
    this.#openTabs = new OpenTabs(host.tabs);
    this.#tabs = tabs;
    this.#reports = new HostReports(host, this.#requests, (nextRecovery) =>
      this.#status.change({ state: 'loading', recovery: nextRecovery }, ['progress']),
    );
    this.#activity = new ActivityLog(systemClock, (activity) => tabs.toAll({ type: 'activity', activity }));
    const stats = this.#createStats();
    const textGenerator = this.#createTextGenerator(stats);
    this.#textGenerator = textGenerator;
    const batched = deployments.map((deployment) => [deployment.name, this.#serve(deployment)] as const);
    const encoders = new Map([embedTask, rerankTask].map((task) => [task.name, this.#serveTask(task)]));
    const set = new DeploymentSet(
      textGenerator,
      new Map<string, EncoderDeployment | BatchedDeployment>([...encoders, ...batched]),
    );
    const [registry, activity] = [this.#requests, this.#activity];
    const log = this.#log;
    const openTabs = this.#openTabs;
    const receiveRows = this.#jobs.receive.bind(this.#jobs);
    const parts = { registry, deployments: set, tabs, openTabs, activity, log, host, receiveRows };
    this.#router = new RequestRouter(parts);
    this.#knobs = new Knobs(set, () => this.#status.change(this.#knobs.shown, ['override']));
    this.#status = new StatusPublisher(
      { state: 'loading', tabs: openTabs.current, ...this.#knobs.shown, ...(recovery && { recovery }) },
      (status) => {
        tabs.toAll({ type: 'status', status });
        this.#jobs.schedule();
      },
    );
    this.#models = new ModelService({
      host,
      status: this.#status,
      textGenerator,
      encoders: {
        deployments: encoders,
        onChange: (infos) => this.#status.change({ encoders: infos, ...this.#knobs.shown }),
      },
    });
    this.#calls = createOwnCalls({ knobs: this.#knobs, metrics: this.#metrics, log });
  }

  /** How long this worker may be silent before it counts as hung, in ms. */
  get patienceMs(): number {
    return this.#textGenerator.patienceMs;
  }

  /**
   * Asks the host for another worker, which continues all requests. No request fails.
   *
   * @param error `RuntimeLostError`, or an uncaught error.
   */
  fail(error: unknown): void {
    this.#router.flush();
    this.#reports.fail(error, this.#textGenerator.gauges.numRunning);
  }

  /**
   * Announces the worker and starts its model. Resolves when it serves or has failed.
   *
   * @param refusal Why nothing is started.
   */
  async start(first: FirstModelInit, backend: BackendChoice, refusal?: unknown): Promise<void> {
    this.announce();
    try {
      await this.#models.start(first, backend, refusal);
    } catch (error) {
      this.fail(error);
      return;
    }
    this.#host.tell({ type: 'ready' });
    if (this.#host.isTrial) return;
    // A suspended worker keeps the files of the jobs open. Without storage there are no jobs to go on with.
    await this.#jobs
      .open()
      .catch(() => this.#host.whenAlone().then(() => this.#jobs.open()))
      .catch(() => {});
  }

  /** Announces this worker to all tabs. Tabs that do not know it answer with hello. */
  announce(): void {
    this.#tabs.toAll({ type: 'serving' });
  }

  receive(message: ClientMessage | UnreadMessage): void {
    const { clientId } = message;
    // Drop messages of a client that was not welcomed: they are meant for an earlier worker, and come again after the welcome.
    if (message.type !== 'hello' && !this.#requests.hasWelcomed(clientId)) return;
    if (message.type === 'unread') {
      this.#tabs.refuse(message);
      return;
    }
    if ('callId' in message) {
      void this.#answer(message);
      return;
    }
    switch (message.type) {
      case 'hello':
        this.#welcome(message);
        break;
      case 'submit':
        this.#router.submit(message, [message]);
        break;
      case 'submit-all':
        this.#router.submit(message, message.requests);
        break;
      case 'cancel':
        this.#router.cancel(message.requestId, clientId);
        break;
      case 'steer-load':
        void this.#models.tell((models) => models.steer(message.action));
        break;
      case 'leave-load':
        void this.#models.tell((models) => models.leave(clientId, message.loadId));
        break;
      default:
        message satisfies never;
    }
  }

  /** Call it before the tab's first message. */
  openTab(clientId: ClientId): void {
    this.#openTabs.add(clientId);
    this.#status.change({ tabs: this.#openTabs.current });
  }

  /** Ends the requests, the override and the temporary models of a client that is gone. */
  forget(clientId: ClientId): void {
    this.#router.forget(clientId);
    this.#knobs.forget(clientId);
    void this.#models.tell((models) => models.forget(clientId));
    void this.#answer({ version: PROTOCOL_VERSION, type: 'restore-model', clientId, callId: 0 });
    if (this.#openTabs.delete(clientId)) this.#status.change({ tabs: this.#openTabs.current });
  }

  #welcome({ clientId, knobs, override, modelBefore }: Extract<ClientMessage, { type: 'hello' }>): void {
    if (modelBefore !== undefined) this.#models.noteModelBefore(modelBefore);
    if (knobs) this.#knobs.adopt(knobs);
    if (override) this.#knobs.adoptOverride(clientId, override);
    this.#requests.welcome(clientId);
    this.#tabs.toClient(clientId, {
      type: 'welcome',
      status: this.#status.current,
      activity: this.#activity.readLive(),
      batches: this.#batchLog.all,
      ...(this.#stepLog.all.length > 0 && { steps: this.#stepLog.all }),
    });
  }

  /** A handler without a promise is answered before this returns. */
  async #answer(call: CallMessage): Promise<void> {
    const { clientId, callId } = call;
    try {
      const answering = this.#handle(call);
      const answer = answering instanceof Promise ? await answering : answering;
      this.#tabs.toClient(clientId, { type: 'call-answered', callId, result: answer });
    } catch (error) {
      if (error instanceof RuntimeLostError) this.fail(error);
      else this.#tabs.toClient(clientId, { type: 'call-refused', callId, error: toWireError(error) });
    }
  }

  #handle(call: CallMessage): CallAnswer<CallName> | Promise<CallAnswer<CallName>> {
    if (isJobCall(call)) return this.#jobs.answer(call);
    return isModelCall(call, this.#calls) ? this.#models.answer(call) : handleCall(this.#calls, call);
  }

  #createStats(): StatsReporter {
    return new StatsReporter(systemClock, createGenerationMetrics(this.#metrics, TEXT_GENERATOR), {
      gauges: () => this.#textGenerator.gauges,
      send: (stats) => {
        for (const step of stats.steps) this.#stepLog.add(stepBatchOf(step));
        this.#log.recordStats(stats);
        this.#tabs.toAll({ type: 'stats', stats });
      },
    });
  }

  #createTextGenerator(stats: StatsReporter): TextDeployment {
    const { maxRows } = this.#host.past;
    const onUpdates = (updates: readonly RequestUpdate[]): void => {
      this.#reports.recordUpdates(updates);
      this.#router.post(updates);
    };
    return new TextDeployment(stats, onUpdates, {
      onRuntimeLost: (error) => this.fail(error),
      onStepBegun: (requestIds) => this.#reports.recordStep(requestIds),
      onStepEnded: (step) => this.#textPace.recordStep(step),
      whileReading: (requestId, read) => this.#reports.whileReading(requestId, read),
      ...(maxRows !== undefined && { maxRows }),
    });
  }

  #serve(deployment: AnyDeployment): BatchedDeployment {
    const listener = this.#listenerOf(deployment.name);
    return new BatchedDeployment(deployment, systemClock, listener, this.#host.past.maxRows);
  }

  #serveTask(task: EncoderTask): EncoderDeployment {
    const restore = (): void => void this.#models.tell((models) => models.restoreEncoder(task.name));
    const listener = this.#listenerOf(task.name);
    return new EncoderDeployment(
      task,
      { clock: systemClock, pace: this.#textPace, listener, restore },
      this.#host.past.maxRows,
    );
  }

  #listenerOf(name: string): BatchedDeploymentListener {
    const metrics = createBatchMetrics(this.#metrics);
    return {
      onFailed: (requestId, cause) => {
        if (cause instanceof RuntimeLostError) this.fail(cause);
        if (this.#reports.hasFailed) return;
        const error = toWireError(cause);
        if (error.code === 'REQUEST_CANCELLED') metrics.onCancelled(name);
        else if (REFUSAL_CODES.has(error.code)) metrics.onRejected(name, error.code);
        this.#router.post([{ type: 'failed', requestId, error }]);
      },
      onQueueWait: (queueWaitMs) => metrics.onQueueWait(name, queueWaitMs),
      onBatch: (batch, answers) => {
        if (this.#reports.hasFailed) return;
        metrics.onBatch(name, batch, batch.queueLength);
        this.#batchLog.add(batch);
        this.#tabs.toAll({ type: 'batch', batch });
        if (answers.length > 0 && this.#isModelIdle) this.#reports.recordProgress();
        this.#router.post(answers.map((answer) => ({ type: 'answered', ...answer })));
      },
    };
  }

  /** An answered batch is not progress while prompts wait, since the model may kill every worker. */
  get #isModelIdle(): boolean {
    const { numRunning, numWaiting } = this.#textGenerator.gauges;
    return this.#status.current.state === 'ready' && numRunning + numWaiting === 0;
  }
}
