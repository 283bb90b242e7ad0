import { systemClock } from '../../batching/clock.ts';
import { RequestCancelledError, RequestTimeoutError } from '../../batching/errors.ts';
import { DEFAULT_POLICY, updatePolicy, type BatchingPolicy } from '../../batching/generation/policy.ts';
import type { EngineGauges } from '../../batching/metrics/generation-metrics.ts';
import type { LoadedModel } from '../models/load-model.ts';
import type { RequestId, RequestUpdate, ServedModel, WhenBusy, WireError } from '../protocol/protocol.ts';
import type { StatsReporter } from '../logs/stats-reporter.ts';
import { toWireError } from '../protocol/wire-errors.ts';
import { Deadlines } from './deadlines.ts';
import { isSameModel, servedModel } from '../protocol/served-model.ts';
import { timeoutMsOf } from './generation-options.ts';
import type { ModelGuardListener } from './model-guard.ts';
import type { PromptGenerator } from './prompt-generator.ts';
import { TextGenerator, type Submission } from './text-generator.ts';

type ModelState =
  | { readonly type: 'loading' }
  /** The old model ends what it has; what comes waits for the new one. */
  | { readonly type: 'draining'; readonly generator: PromptGenerator; readonly onIdle: () => void }
  | { readonly type: 'ready'; readonly generator: PromptGenerator }
  | { readonly type: 'failed'; readonly error: WireError };

/** What the deployment tells of its model, and what it is told. */
export interface TextGeneratorCare extends ModelGuardListener {
  /** See `ModelGuard`. */
  readonly maxRows?: number;
}

const NO_GAUGES: EngineGauges = {
  numRunning: 0,
  numWaiting: 0,
  kvCache: { usedBytes: 0, reservedBytes: 0 },
};

/** Tells what becomes of its requests to `onUpdates`. */
export type CreateGenerator = (
  policy: BatchingPolicy,
  onUpdates: (updates: readonly RequestUpdate[]) => void,
) => PromptGenerator;

/** The text generator in service from the first moment: what is submitted while its model loads waits for it. */
export class TextGeneratorDeployment {
  readonly #stats: StatsReporter;
  readonly #care: TextGeneratorCare;
  readonly #onUpdates: (updates: readonly RequestUpdate[]) => void;
  /** Submitted before the model is ready, in order. */
  readonly #early = new Map<RequestId, Submission>();
  /** What the model has, in order: another one may have to begin it anew. */
  readonly #started = new Map<RequestId, Submission>();
  readonly #deadlines = new Deadlines(systemClock);
  #policy = DEFAULT_POLICY;
  #model: ModelState = { type: 'loading' };
  #served: ServedModel | undefined;

  constructor(
    stats: StatsReporter,
    onUpdates: (updates: readonly RequestUpdate[]) => void,
    care: TextGeneratorCare,
  ) {
    this.#stats = stats;
    this.#care = care;
    this.#onUpdates = (updates) => {
      for (const { type, requestId } of updates) {
        if (type !== 'finished' && type !== 'failed') continue;
        this.#deadlines.clear(requestId);
        this.#started.delete(requestId);
      }
      onUpdates(updates);
      if (this.#model.type === 'draining' && this.#started.size === 0) this.#model.onIdle();
    };
  }

  get policy(): BatchingPolicy {
    return this.#policy;
  }

  get gauges(): EngineGauges {
    const gauges = this.#generator?.gauges ?? NO_GAUGES;
    return { ...gauges, numWaiting: gauges.numWaiting + this.#early.size };
  }

  /**
   * Starts serving; what waited goes first, in its order. Where another model serves, it is there until it has ended what it
   * has, or until the new one has taken that over. Resolves when nothing runs on the old one any more.
   *
   * @param signal Ends the wait for what the old one has: then it serves on.
   */
  useModel(model: LoadedModel, whenBusy: WhenBusy = 'finish', signal?: AbortSignal): Promise<void> {
    const create: CreateGenerator = (policy, onUpdates) =>
      new TextGenerator(
        model,
        policy,
        {
          onUpdates,
          onStep: (event) => this.#stats.recordStep(event),
          onEnded: (events) => this.#stats.recordEnded(events),
          onFault: (cause, requestIds) => this.#care.onFault(cause, requestIds),
          onStepBegun: (requestIds) => this.#care.onStepBegun?.(requestIds),
        },
        this.#care.maxRows,
      );
    return this.use(servedModel(model.modelInfo, model.backendInfo), create, whenBusy, signal);
  }

  /** As `useModel`, whatever continues the prompts. */
  async use(
    served: ServedModel,
    create: CreateGenerator,
    whenBusy: WhenBusy = 'finish',
    signal?: AbortSignal,
  ): Promise<void> {
    if (this.#model.type === 'ready') await this.#endOld(this.#model.generator, served, whenBusy, signal);
    const generator = create(this.#policy, this.#onUpdates);
    this.#served = served;
    this.#endLoading({ type: 'ready', generator });
  }

  /** How long a step may take before it is given up, ms; 0 where no model serves. */
  get patienceMs(): number {
    return this.#generator?.patienceMs ?? 0;
  }

  /** No model can be had: what waited, and what comes, fails with this error. */
  fail(error: WireError): void {
    this.#endLoading({ type: 'failed', error });
  }

  /** Never throws: the outcome is told as updates. */
  submit(submission: Submission): void {
    this.submitAll([submission]);
  }

  /** All or none of some submissions of one turn: what is wrong with one fails all. */
  submitAll(submissions: readonly Submission[]): void {
    for (const { requestId, options, elapsedMs } of submissions) {
      const timeoutMs = timeoutMsOf(options);
      if (timeoutMs === undefined) continue;
      const error = RequestTimeoutError.ofRequest(timeoutMs);
      this.#deadlines.set(requestId, timeoutMs - elapsedMs, () => this.#fail(requestId, error));
    }
    this.#start(submissions);
  }

  /** Does nothing where the request has ended already. */
  cancel(requestId: RequestId): void {
    this.#failEarly(requestId, RequestCancelledError.because(undefined));
    this.#generator?.cancel(requestId);
  }

  /** @throws InvalidOptionError, UnknownOptionError; then nothing is changed. */
  configure(knobs: unknown): BatchingPolicy {
    this.#policy = this.#generator?.configure(knobs) ?? updatePolicy(this.#policy, knobs);
    return this.#policy;
  }

  get #generator(): PromptGenerator | undefined {
    return this.#model.type === 'ready' || this.#model.type === 'draining'
      ? this.#model.generator
      : undefined;
  }

  async #endOld(
    generator: PromptGenerator,
    next: ServedModel,
    whenBusy: WhenBusy,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const { promise: idle, resolve: onIdle, reject } = Promise.withResolvers<void>();
    this.#model = { type: 'draining', generator, onIdle };
    if (whenBusy === 'finish' && this.#started.size > 0) {
      signal?.addEventListener('abort', () => reject(signal.reason));
      try {
        await idle;
      } catch (error) {
        this.#endLoading({ type: 'ready', generator });
        throw error;
      }
    }
    const dropped = generator.dropAll();
    this.#beginAnew(next);
    await dropped;
  }

  /** All that the old model had waits for the new one, before what has come since. */
  #beginAnew(next: ServedModel): void {
    const anew = [...this.#started.values()];
    if (anew.length === 0) return;
    const since = [...this.#early.values()];
    this.#started.clear();
    this.#early.clear();
    for (const submission of [...anew, ...since]) {
      this.#early.set(submission.requestId, begunAnew(submission));
    }
    this.#onUpdates(anew.map(({ requestId }) => ({ type: 'restarted', requestId, model: next })));
  }

  #fail(requestId: RequestId, error: Error): void {
    this.#failEarly(requestId, error);
    this.#generator?.fail(requestId, error);
  }

  #failEarly(requestId: RequestId, error: Error): void {
    if (!this.#early.delete(requestId)) return;
    this.#onUpdates([{ type: 'failed', requestId, error: toWireError(error) }]);
  }

  #start(submissions: readonly Submission[]): void {
    switch (this.#model.type) {
      case 'loading':
      case 'draining':
        for (const submission of submissions) this.#early.set(submission.requestId, submission);
        break;
      case 'ready':
        this.#generate(submissions, this.#model.generator);
        break;
      case 'failed':
        this.#refuse(submissions, this.#model.error);
        break;
      default:
        this.#model satisfies never;
    }
  }

  #generate(submissions: readonly Submission[], generator: PromptGenerator): void {
    for (const submission of submissions) this.#started.set(submission.requestId, submission);
    try {
      const accepted = generator.submitAll(submissions.map((submission) => this.#forModel(submission)));
      for (const { numPromptTokens, numSequences } of accepted)
        this.#stats.recordSubmitted(numPromptTokens, numSequences);
      this.#markAccepted(submissions);
    } catch (error) {
      const wireError = toWireError(error);
      for (const _ of submissions) this.#stats.recordRejected(wireError.code);
      this.#refuse(submissions, wireError);
    }
  }

  /** Another model may have to begin them anew: its queue may not refuse them. */
  #markAccepted(submissions: readonly Submission[]): void {
    for (const submission of submissions) {
      const { requestId, resumption = { choices: [] } } = submission;
      if (!this.#started.has(requestId)) continue;
      this.#started.set(requestId, { ...submission, resumption: { ...resumption, isAccepted: true } });
    }
    this.#onUpdates(submissions.map(({ requestId }) => ({ type: 'accepted', requestId })));
  }

  #refuse(submissions: readonly Submission[], error: WireError): void {
    this.#onUpdates(submissions.map(({ requestId }) => ({ type: 'failed', requestId, error })));
  }

  /** The tokens of another model mean nothing to this one. */
  #forModel(submission: Submission): Submission {
    const { requestId, resumption } = submission;
    if (!resumption?.model || !this.#served || isSameModel(resumption.model, this.#served)) return submission;
    this.#onUpdates([{ type: 'restarted', requestId, model: this.#served }]);
    return begunAnew(submission);
  }

  #endLoading(model: ModelState): void {
    this.#model = model;
    const waiting = [...this.#early.values()];
    this.#early.clear();
    for (const submissions of byTurn(waiting)) this.#start(submissions);
  }
}

/** Its tokens are void. A queue that has accepted it still has. */
function begunAnew({ resumption, ...submission }: Submission): Submission {
  return resumption?.isAccepted
    ? { ...submission, resumption: { choices: [], isAccepted: true } }
    : submission;
}

/** Submissions of one turn are accepted together, or not at all. */
function byTurn(submissions: readonly Submission[]): Iterable<readonly Submission[]> {
  const turns = Map.groupBy(submissions, ({ clientId, turn, requestId }) =>
    JSON.stringify([clientId, ...(turn ?? [requestId])]),
  );
  return turns.values();
}
