import { systemClock } from '../batching/clock.ts';
import { RequestCancelledError } from '../batching/errors.ts';
import { DEFAULT_POLICY, updatePolicy, type BatchingPolicy } from '../batching/generation/policy.ts';
import { TextGenerator, type Submission } from './deployments/text-generator.ts';
import { loadModel } from './load-model.ts';
import {
  PROTOCOL_VERSION,
  type BackendChoice,
  type ClientMessage,
  type RequestId,
  type RequestUpdate,
  type ServeStatus,
  type WorkerMessage,
} from './protocol.ts';
import { warmUp } from './runtime/warm-up.ts';
import { StatsReporter } from './stats-reporter.ts';
import { toWireError } from './wire-errors.ts';

type Unversioned<Message> = Message extends unknown ? Omit<Message, 'version'> : never;

/** The worker's side of the wire: loads the model, then passes requests to the deployment and answers back. */
export class ServeWorker {
  readonly #send: (message: WorkerMessage) => void;
  readonly #stats: StatsReporter;
  /** Submitted before the model is ready, in order. */
  readonly #early = new Map<RequestId, Submission>();
  #generator: TextGenerator | undefined;
  #status: ServeStatus = { state: 'loading', role: 'leader', policy: DEFAULT_POLICY };

  constructor(send: (message: WorkerMessage) => void) {
    this.#send = send;
    this.#stats = new StatsReporter(systemClock, {
      counts: () => ({
        numRunning: this.#generator?.numRunning ?? 0,
        numWaiting: this.#generator?.numWaiting ?? this.#early.size,
      }),
      send: (stats) => this.#post({ type: 'stats', stats }),
    });
  }

  receive(message: ClientMessage): void {
    switch (message.type) {
      case 'init':
        void this.#load(message.modelUrl, message.backend);
        break;
      case 'submit':
        this.#submit(message);
        break;
      case 'cancel':
        this.#cancel(message.requestId);
        break;
      case 'configure':
        this.#configure(message.callId, message.knobs);
        break;
      default:
        message satisfies never;
    }
  }

  async #load(modelUrl: string, choice: BackendChoice): Promise<void> {
    try {
      const model = await loadModel(modelUrl, choice, (progress) => this.#setStatus({ progress }));
      const { modelInfo, backendInfo } = model;
      this.#setStatus({ state: 'warming-up', model: modelInfo, backend: backendInfo });
      await warmUp(model.backend, model.config, (loaded, total) =>
        this.#setStatus({ progress: { phase: 'compile', loaded, total } }),
      );
      this.#generator = new TextGenerator(model, this.#status.policy, {
        onUpdates: (updates) => this.#postUpdates(updates),
        onStep: (event) => this.#stats.recordStep(event),
        onEnded: (events) => this.#stats.recordEnded(events),
      });
      this.#endLoading({ state: 'ready' });
    } catch (error) {
      this.#endLoading({ state: 'failed', error: toWireError(error) });
    }
  }

  #submit(submission: Submission): void {
    if (this.#status.state === 'loading' || this.#status.state === 'warming-up') {
      this.#early.set(submission.requestId, submission);
      return;
    }
    const { requestId } = submission;
    if (!this.#generator) {
      const error = this.#status.error ?? toWireError(new Error('No model is loaded.'));
      this.#postUpdates([{ type: 'failed', requestId, error }]);
      return;
    }
    try {
      this.#stats.recordSubmitted(this.#generator.submit(submission));
    } catch (error) {
      this.#stats.recordRejected();
      this.#postUpdates([{ type: 'failed', requestId, error: toWireError(error) }]);
    }
  }

  #endLoading(end: Pick<ServeStatus, 'state' | 'error'>): void {
    const { progress: _, ...status } = this.#status;
    this.#status = status;
    this.#setStatus(end);
    const waiting = [...this.#early.values()];
    this.#early.clear();
    for (const submission of waiting) this.#submit(submission);
  }

  #cancel(requestId: RequestId): void {
    if (this.#early.delete(requestId)) {
      const error = toWireError(RequestCancelledError.because(undefined));
      this.#postUpdates([{ type: 'failed', requestId, error }]);
    }
    this.#generator?.cancel(requestId);
  }

  #configure(callId: number, knobs: unknown): void {
    let policy: BatchingPolicy;
    try {
      policy = this.#generator ? this.#generator.configure(knobs) : updatePolicy(this.#status.policy, knobs);
    } catch (error) {
      this.#post({ type: 'configure-refused', callId, error: toWireError(error) });
      return;
    }
    this.#setStatus({ policy });
    this.#post({ type: 'configured', callId, policy });
  }

  #setStatus(change: Partial<ServeStatus>): void {
    this.#status = { ...this.#status, ...change };
    this.#post({ type: 'status', status: this.#status });
  }

  #postUpdates(updates: readonly RequestUpdate[]): void {
    if (updates.length > 0) this.#post({ type: 'updates', updates });
  }

  #post(message: Unversioned<WorkerMessage>): void {
    this.#send({ version: PROTOCOL_VERSION, ...message });
  }
}
