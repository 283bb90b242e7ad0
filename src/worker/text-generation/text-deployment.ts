import { systemClock } from '../../batching/base/clock.ts';
import { RequestCancelledError } from '../../batching/base/errors.ts';
import { DEFAULT_POLICY, type BatchingPolicy } from '../../batching/generation/policy.ts';
import { updatePolicy } from '../../batching/generation/update-policy.ts';
import { NO_GAUGES, type EngineGauges } from '../../batching/metrics/generation-metrics.ts';
import type { RequestId } from '../../protocol/ids.ts';
import type { RequestUpdate } from '../../protocol/requests.ts';
import type { ServedModel, WhenBusy } from '../../protocol/models.ts';
import type { WireError } from '../../protocol/wire.ts';
import { requestTimedOut } from '../../protocol/errors/deployment-messages.ts';
import { toWireError } from '../../protocol/wire-errors.ts';
import { inPieces } from '../../platform/in-pieces.ts';
import type { StatsReporter } from '../../protocol/stats-reporter.ts';
import { timeoutMsOf } from '../../protocol/resolve-options.ts';
import type { ModelGuardOptions } from './model-guard.ts';
import type { ModelGenerator, ModelGeneratorOptions } from './model-generator.ts';
import { type Accepted, type Submission, WaitingRoom } from './submissions.ts';

type ModelState =
  | { readonly type: 'loading' }
  /** The old model finishes its requests. New submissions wait for the new model. */
  | { readonly type: 'draining'; readonly generator: ModelGenerator; readonly onIdle: () => void }
  | { readonly type: 'ready'; readonly generator: ModelGenerator }
  /** Its memory is free. The first submission asks for it again. */
  | { readonly type: 'ejected'; readonly restore: () => void }
  | { readonly type: 'failed'; readonly error: WireError };

type Reading = ReturnType<ModelGenerator['readAll']>;

/** The generator reports the outcome of its requests to `onUpdates`. */
type CreateGenerator = (options: ModelGeneratorOptions, policy: BatchingPolicy) => ModelGenerator;

/** The text-generator deployment. It accepts submissions from the start: they wait while its model loads or changes. */
export class TextDeployment {
  readonly #stats: StatsReporter;
  readonly #options: ModelGuardOptions;
  readonly #onUpdates: (updates: readonly RequestUpdate[]) => void;
  readonly #early = new WaitingRoom();
  /** Submissions that the model has, in order. Another model may have to restart them. */
  readonly #started = new Map<RequestId, Submission>();
  /** Cancel the timers of requests that have a timeout. */
  readonly #cancelTimers = new Map<RequestId, () => void>();
  #policy = DEFAULT_POLICY;
  #model: ModelState = { type: 'loading' };
  #served: ServedModel | undefined;

  constructor(
    stats: StatsReporter,
    onUpdates: (updates: readonly RequestUpdate[]) => void,
    options: ModelGuardOptions,
  ) {
    this.#stats = stats;
    this.#options = options;
    this.#onUpdates = (updates) => {
      for (const { type, requestId } of updates) {
        if (type !== 'finished' && type !== 'failed') continue;
        this.#cancelTimers.get(requestId)?.();
        this.#cancelTimers.delete(requestId);
        this.#started.delete(requestId);
      }
      onUpdates(updates);
      if (this.#model.type === 'draining' && this.#started.size === 0) this.#model.onIdle();
    };
  }

  get knobs(): BatchingPolicy {
    return this.#policy;
  }

  get gauges(): EngineGauges {
    const gauges = this.#generator?.gauges ?? NO_GAUGES;
    return { ...gauges, numWaiting: gauges.numWaiting + this.#early.size };
  }

  /** Whether a text that another worker has started waits for this worker's model. */
  get hasBegunText(): boolean {
    return this.#early.all.some(({ resumption }) => resumption?.ttftMs !== undefined);
  }

  /** How long a step may take before it counts as hung, in ms; 0 if no model serves. */
  get patienceMs(): number {
    return this.#generator?.patienceMs ?? 0;
  }

  /**
   * Serves with the model of this generator. Waiting submissions go first, in their order. An old model first finishes its requests, or
   * hands them over to the new one. Resolves when nothing runs on the old model any more.
   *
   * @param signal Ends the wait for the old model's requests. The old model then keeps serving.
   */
  async use(
    served: ServedModel,
    create: CreateGenerator,
    whenBusy: WhenBusy = 'finish',
    signal?: AbortSignal,
  ): Promise<void> {
    if (this.#model.type === 'ready') await this.#endOld(this.#model.generator, served, whenBusy, signal);
    const options: ModelGeneratorOptions = {
      ...this.#options,
      onUpdates: this.#onUpdates,
      onStep: (event) => {
        this.#options.onStepEnded?.(event);
        this.#stats.recordStep(event);
      },
      onEnded: (events) => this.#stats.recordEnded(events),
      onMemoryGivenBack: () => this.#stats.recordGauges(),
    };
    const generator = create(options, this.#policy);
    this.#served = served;
    this.#endLoading({ type: 'ready', generator });
  }

  /**
   * Lets the model go when its requests have ended.
   *
   * @param restore Called once, with the first submission that comes afterwards: leads to `use`, or to `fail` and `eject`.
   */
  async eject(restore: () => void): Promise<void> {
    if (this.#model.type === 'ready') await this.#endOld(this.#model.generator, this.#served, 'finish');
    this.#model = { type: 'ejected', restore };
    if (this.#early.size > 0) this.#restore();
  }

  /** There is no model. Waiting and future submissions fail with this error. */
  fail(error: WireError): void {
    this.#endLoading({ type: 'failed', error });
  }

  /** Accepts all submissions of one turn or none. Never throws: the outcome is sent as updates. */
  submitAll(submissions: readonly Submission[]): void {
    for (const { requestId, options, elapsedMs } of submissions) {
      const timeoutMs = timeoutMsOf(options);
      if (timeoutMs === undefined) continue;
      const error = requestTimedOut(timeoutMs);
      // Always asynchronous, even if the time is already up.
      const cancelTimer = systemClock.setTimer(Math.max(0, timeoutMs - elapsedMs), () => {
        this.#failEarly(requestId, error);
        this.#generator?.fail(requestId, error);
      });
      this.#cancelTimers.set(requestId, cancelTimer);
    }
    this.#start(submissions);
  }

  /** Does nothing if the request has ended already. */
  cancel(requestId: RequestId): void {
    this.#failEarly(requestId, RequestCancelledError.because(undefined));
    this.#generator?.cancel(requestId);
  }

  /** @throws InvalidOptionError, UnknownOptionError; then nothing is changed. */
  configure(knobs: unknown): BatchingPolicy {
    this.#policy = this.#generator?.configure(knobs) ?? updatePolicy(this.#policy, knobs);
    this.#stats.recordGauges();
    return this.#policy;
  }

  changed(own: BatchingPolicy, knobs: unknown): BatchingPolicy {
    return updatePolicy(own, knobs);
  }

  get #generator(): ModelGenerator | undefined {
    return 'generator' in this.#model ? this.#model.generator : undefined;
  }

  async #endOld(
    generator: ModelGenerator,
    next: ServedModel | undefined,
    whenBusy: WhenBusy,
    signal?: AbortSignal,
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
    if (next) this.#restartAll(next);
    await dropped;
  }

  /** The old model's requests wait for the new model, ahead of later submissions. */
  #restartAll(next: ServedModel): void {
    const restarted = [...this.#started.values()];
    if (restarted.length === 0) return;
    const since = this.#early.all;
    this.#started.clear();
    this.#early.clear();
    this.#early.enter([...restarted.map(withoutProgress), ...since]);
    this.#onUpdates(restarted.map(({ requestId }) => ({ type: 'restarted', requestId, model: next })));
  }

  #failEarly(requestId: RequestId, error: Error): void {
    if (!this.#early.leave(requestId)) return;
    this.#onUpdates([{ type: 'failed', requestId, error: toWireError(error) }]);
  }

  #start(submissions: readonly Submission[]): void {
    const model = this.#model;
    if (model.type === 'ready') this.#generate(submissions, model.generator);
    else if (model.type === 'failed') this.#refuse(submissions, model.error);
    else {
      this.#early.enter(submissions);
      this.#restore();
    }
  }

  #restore(): void {
    if (this.#model.type !== 'ejected') return;
    const { restore } = this.#model;
    this.#model = { type: 'loading' };
    restore();
  }

  #generate(submissions: readonly Submission[], generator: ModelGenerator): void {
    // Copies, so that a later reading of the same submissions can be distinguished from this one.
    const own = submissions.map((submission) => ({ ...this.#forModel(submission, generator) }));
    const preparing = generator.prepare(own);
    const reading = preparing?.then((shapes) => generator.readAll(own, shapes)) ?? generator.readAll(own);
    try {
      const first = reading instanceof Promise ? undefined : reading.next();
      if (first?.done) {
        this.#accept(own, first.value);
        return;
      }
    } catch (error) {
      this.#reject(own, error);
      return;
    }
    this.#early.enter(own);
    void this.#readOn(own, generator, reading);
  }

  /** Reads long prompts in pieces, and those with a shape when it is prepared. Meanwhile some of the submissions may end, or another model may take them all. */
  async #readOn(
    submissions: readonly Submission[],
    generator: ModelGenerator,
    reading: Reading | Promise<Reading>,
  ): Promise<void> {
    const isWaiting = (submission: Submission): boolean => this.#early.has(submission);
    const isRead = (): boolean => this.#model.type === 'ready' && this.#model.generator === generator;
    const isWanted = (): boolean => isRead() && submissions.every(isWaiting);
    let outcome: { readonly accept?: (() => readonly Accepted[]) | undefined; readonly error?: unknown };
    try {
      outcome = { accept: await inPieces(whileWanted(await reading, isWanted)) };
    } catch (error) {
      outcome = { error };
    }
    // The next model reads them again.
    if (!isRead()) return;
    const waiting = submissions.filter(isWaiting);
    for (const { requestId } of waiting) this.#early.leave(requestId);
    if (waiting.length < submissions.length) {
      if (waiting.length > 0) this.#generate(waiting, generator);
    } else if (outcome.accept) this.#accept(waiting, outcome.accept);
    else this.#reject(waiting, outcome.error);
  }

  #accept(submissions: readonly Submission[], accept: () => readonly Accepted[]): void {
    for (const submission of submissions) this.#started.set(submission.requestId, submission);
    try {
      for (const { numPromptTokens, numSequences } of accept())
        this.#stats.recordSubmitted(numPromptTokens, numSequences);
      this.#markAccepted(submissions);
    } catch (error) {
      this.#reject(submissions, error);
    }
  }

  #reject(submissions: readonly Submission[], error: unknown): void {
    const wireError = toWireError(error);
    for (const _ of submissions) this.#stats.recordRejected(wireError.code);
    this.#refuse(submissions, wireError);
  }

  /** Another model that restarts them may not reject them because of a full queue. */
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

  /** Drops tokens that this model can't go on from: of another one, or of another precision. */
  #forModel(submission: Submission, generator: ModelGenerator): Submission {
    const { requestId, resumption } = submission;
    if (!resumption?.model || !this.#served || generator.canContinue(resumption.model)) return submission;
    this.#onUpdates([{ type: 'restarted', requestId, model: this.#served }]);
    return withoutProgress(submission);
  }

  #endLoading(model: ModelState): void {
    this.#model = model;
    const { turns } = this.#early;
    this.#early.clear();
    for (const submissions of turns) this.#start(submissions);
  }
}

/** Drops the tokens of a lost worker or another model. An accepted request is still accepted. */
function withoutProgress({ resumption, ...submission }: Submission): Submission {
  return resumption?.isAccepted
    ? { ...submission, resumption: { choices: [], isAccepted: true } }
    : submission;
}

/** Stops a generator early once its result is not wanted. */
function* whileWanted<Result>(
  work: Generator<void, Result>,
  isWanted: () => boolean,
): Generator<void, Result | undefined> {
  while (isWanted()) {
    const piece = work.next();
    if (piece.done) return piece.value;
    yield;
  }
  return undefined;
}
