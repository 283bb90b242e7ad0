import { systemClock } from '../../batching/clock.ts';
import { RequestCancelledError, RequestTimeoutError } from '../../batching/errors.ts';
import { DEFAULT_POLICY, updatePolicy, type BatchingPolicy } from '../../batching/generation/policy.ts';
import type { EngineGauges } from '../../batching/metrics/generation-metrics.ts';
import type { LoadedModel } from '../load-model.ts';
import type { RequestId, RequestUpdate, WireError } from '../protocol.ts';
import type { StatsReporter } from '../stats-reporter.ts';
import { toWireError } from '../wire-errors.ts';
import { Deadlines } from './deadlines.ts';
import { timeoutMsOf } from './generation-options.ts';
import { TextGenerator, type Submission } from './text-generator.ts';

type ModelState =
  | { readonly type: 'loading' }
  | { readonly type: 'ready'; readonly generator: TextGenerator }
  | { readonly type: 'failed'; readonly error: WireError };

/** The text generator in service from the first moment: what is submitted while its model loads waits for it. */
export class TextGeneratorDeployment {
  readonly #stats: StatsReporter;
  readonly #onUpdates: (updates: readonly RequestUpdate[]) => void;
  /** Submitted before the model is ready, in order. */
  readonly #early = new Map<RequestId, Submission>();
  readonly #deadlines = new Deadlines(systemClock);
  #policy = DEFAULT_POLICY;
  #model: ModelState = { type: 'loading' };

  constructor(stats: StatsReporter, onUpdates: (updates: readonly RequestUpdate[]) => void) {
    this.#stats = stats;
    this.#onUpdates = (updates) => {
      for (const { type, requestId } of updates) {
        if (type === 'finished' || type === 'failed') this.#deadlines.clear(requestId);
      }
      onUpdates(updates);
    };
  }

  get policy(): BatchingPolicy {
    return this.#policy;
  }

  get gauges(): EngineGauges {
    if (this.#model.type === 'ready') return this.#model.generator.gauges;
    return { numRunning: 0, numWaiting: this.#early.size, kvCache: { usedBytes: 0, reservedBytes: 0 } };
  }

  /** Starts serving; what waited goes first, in its order. */
  useModel(model: LoadedModel): void {
    const generator = new TextGenerator(model, this.#policy, {
      onUpdates: this.#onUpdates,
      onStep: (event) => this.#stats.recordStep(event),
      onEnded: (events) => this.#stats.recordEnded(events),
    });
    this.#endLoading({ type: 'ready', generator });
  }

  /** No model can be had: what waited, and what comes, fails with this error. */
  fail(error: WireError): void {
    this.#endLoading({ type: 'failed', error });
  }

  /** Never throws: the outcome is told as updates. */
  submit(submission: Submission): void {
    const { requestId, options, elapsedMs } = submission;
    const timeoutMs = timeoutMsOf(options);
    if (timeoutMs !== undefined) {
      const error = RequestTimeoutError.ofRequest(timeoutMs);
      this.#deadlines.set(requestId, timeoutMs - elapsedMs, () => this.#fail(requestId, error));
    }
    this.#start(submission);
  }

  /** Does nothing where the request has ended already. */
  cancel(requestId: RequestId): void {
    this.#failEarly(requestId, RequestCancelledError.because(undefined));
    if (this.#model.type === 'ready') this.#model.generator.cancel(requestId);
  }

  /** @throws InvalidOptionError, UnknownOptionError; then nothing is changed. */
  configure(knobs: unknown): BatchingPolicy {
    this.#policy =
      this.#model.type === 'ready'
        ? this.#model.generator.configure(knobs)
        : updatePolicy(this.#policy, knobs);
    return this.#policy;
  }

  #fail(requestId: RequestId, error: Error): void {
    this.#failEarly(requestId, error);
    if (this.#model.type === 'ready') this.#model.generator.fail(requestId, error);
  }

  #failEarly(requestId: RequestId, error: Error): void {
    if (!this.#early.delete(requestId)) return;
    this.#onUpdates([{ type: 'failed', requestId, error: toWireError(error) }]);
  }

  #start(submission: Submission): void {
    const { requestId } = submission;
    switch (this.#model.type) {
      case 'loading':
        this.#early.set(requestId, submission);
        break;
      case 'ready':
        this.#generate(submission, this.#model.generator);
        break;
      case 'failed':
        this.#onUpdates([{ type: 'failed', requestId, error: this.#model.error }]);
        break;
      default:
        this.#model satisfies never;
    }
  }

  #generate(submission: Submission, generator: TextGenerator): void {
    try {
      const { numPromptTokens, numSequences } = generator.submit(submission);
      this.#stats.recordSubmitted(numPromptTokens, numSequences);
    } catch (error) {
      const wireError = toWireError(error);
      this.#stats.recordRejected(wireError.code);
      this.#onUpdates([{ type: 'failed', requestId: submission.requestId, error: wireError }]);
    }
  }

  #endLoading(model: ModelState): void {
    this.#model = model;
    const waiting = [...this.#early.values()];
    this.#early.clear();
    for (const submission of waiting) this.#start(submission);
  }
}
