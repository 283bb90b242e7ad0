import { systemClock } from '../batching/clock.ts';
import { createBatchMetrics } from '../batching/metrics/batch-metrics.ts';
import { toPrometheusText } from '../batching/metrics/prometheus.ts';
import { MetricsRegistry } from '../batching/metrics/registry.ts';
import { BatchedDeployment, type Answer } from './deployments/batched-deployment.ts';
import type { AnyDeployment } from './deployments/deployment.ts';
import { UnknownDeploymentError } from './deployments/errors.ts';
import { TextGeneratorDeployment } from './deployments/text-generator-deployment.ts';
import { loadModel } from './load-model.ts';
import {
  PROTOCOL_VERSION,
  type BackendChoice,
  type ClientMessage,
  type DeploymentInfo,
  type RequestUpdate,
  type ServeStatus,
  type Unversioned,
  type WorkerMessage,
} from './protocol.ts';
import { warmUp } from './runtime/warm-up.ts';
import { StatsReporter } from './stats-reporter.ts';
import { toWireError } from './wire-errors.ts';

const TEXT_GENERATOR = 'text-generator';

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
  readonly #send: (message: WorkerMessage) => void;
  readonly #textGenerator: TextGeneratorDeployment;
  readonly #batched: ReadonlyMap<string, BatchedDeployment>;
  readonly #registry = new MetricsRegistry();
  readonly #batchMetrics = createBatchMetrics(this.#registry);
  #status: ServeStatus;

  constructor(deployments: readonly AnyDeployment[], send: (message: WorkerMessage) => void) {
    this.#send = send;
    const stats = new StatsReporter(systemClock, {
      counts: () => ({
        numRunning: this.#textGenerator.numRunning,
        numWaiting: this.#textGenerator.numWaiting,
      }),
      send: (value) => this.#post({ type: 'stats', stats: value }),
    });
    this.#textGenerator = new TextGeneratorDeployment(stats, (updates) => this.#postUpdates(updates));
    this.#batched = new Map(deployments.map((deployment) => [deployment.name, this.#serve(deployment)]));
    this.#status = {
      state: 'loading',
      role: 'leader',
      policy: this.#textGenerator.policy,
      deployments: this.#deploymentInfos(),
    };
  }

  receive(message: ClientMessage): void {
    switch (message.type) {
      case 'init':
        this.#setStatus({});
        void this.#load(message.modelUrl, message.backend);
        break;
      case 'submit':
        this.#submit(message);
        break;
      case 'cancel':
        this.#textGenerator.cancel(message.requestId);
        for (const deployment of this.#batched.values()) deployment.cancel(message.requestId);
        break;
      case 'configure':
        this.#answer(message.callId, () => this.#configure(message.deployment, message.knobs));
        break;
      case 'metrics':
        this.#answer(message.callId, () => toPrometheusText(this.#registry.snapshot()));
        break;
      default:
        message satisfies never;
    }
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
        this.#post({ type: 'batch', batch: { ...event, deployment: name, batchIndex, queueLength } });
        batchIndex += 1;
        this.#postAnswers(answers);
      },
    });
    return served;
  }

  async #load(modelUrl: string, choice: BackendChoice): Promise<void> {
    try {
      const model = await loadModel(modelUrl, choice, (progress) => this.#setStatus({ progress }));
      this.#setStatus({ state: 'warming-up', model: model.modelInfo, backend: model.backendInfo });
      await warmUp(model.backend, model.config, (loaded, total) =>
        this.#setStatus({ progress: { phase: 'compile', loaded, total } }),
      );
      this.#endLoading({ state: 'ready' });
      this.#textGenerator.useModel(model);
    } catch (cause) {
      const error = toWireError(cause);
      this.#endLoading({ state: 'failed', error });
      this.#textGenerator.fail(error);
    }
  }

  #endLoading(end: Pick<ServeStatus, 'state' | 'error'>): void {
    const { progress: _progress, ...status } = this.#status;
    this.#status = status;
    this.#setStatus(end);
  }

  #submit(message: Extract<ClientMessage, { type: 'submit' }>): void {
    const { requestId, clientId, deployment, input, options } = message;
    const batched = this.#batched.get(deployment);
    if (deployment === TEXT_GENERATOR) {
      this.#textGenerator.submit({ requestId, clientId, prompt: input, options });
    } else if (batched) {
      void batched.submit(requestId, input, options);
    } else {
      const error = toWireError(this.#unknown(deployment));
      this.#postUpdates([{ type: 'failed', requestId, error }]);
    }
  }

  #configure(deployment: string, knobs: unknown): unknown {
    if (deployment === TEXT_GENERATOR) {
      const policy = this.#textGenerator.configure(knobs);
      this.#setStatus({ policy });
      return policy;
    }
    const batched = this.#batched.get(deployment);
    if (!batched) throw this.#unknown(deployment);
    const inForce = batched.configure(knobs);
    this.#setStatus({ deployments: this.#deploymentInfos() });
    return inForce;
  }

  #deploymentInfos(): readonly DeploymentInfo[] {
    return [...this.#batched].map(([name, { knobs }]) => ({ name, knobs }));
  }

  #unknown(name: string): UnknownDeploymentError {
    return UnknownDeploymentError.of(name, [TEXT_GENERATOR, ...this.#batched.keys()]);
  }

  #answer(callId: number, call: () => unknown): void {
    try {
      this.#post({ type: 'call-answered', callId, result: call() });
    } catch (error) {
      this.#post({ type: 'call-refused', callId, error: toWireError(error) });
    }
  }

  #setStatus(change: Partial<ServeStatus>): void {
    this.#status = { ...this.#status, ...change };
    this.#post({ type: 'status', status: this.#status });
  }

  #postUpdates(updates: readonly RequestUpdate[]): void {
    if (updates.length > 0) this.#post({ type: 'updates', updates });
  }

  /** An answer that cannot be cloned fails its own caller; the message would otherwise fail for the whole batch. */
  #postAnswers(answers: readonly Answer[]): void {
    try {
      this.#postUpdates(answers.map((answer) => ({ type: 'answered', ...answer })));
    } catch (cause) {
      const [only] = answers;
      if (answers.length > 1 || !only) {
        for (const answer of answers) this.#postAnswers([answer]);
        return;
      }
      const error = new Error(
        `The answer cannot be sent (${String(cause)}): return plain data from the handler.`,
      );
      this.#postUpdates([{ type: 'failed', requestId: only.requestId, error: toWireError(error) }]);
    }
  }

  #post(message: Unversioned<WorkerMessage>): void {
    this.#send({ version: PROTOCOL_VERSION, ...message });
  }
}
