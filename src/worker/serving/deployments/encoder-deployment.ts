import type { Clock } from '../../../batching/base/clock.ts';
import { RequestCancelledError } from '../../../batching/base/errors.ts';
import { modelRunFailed } from '../../../batching/generation/generation-errors.ts';
import { RuntimeLostError } from '../../../batching/generation/runtime-lost-error.ts';
import { inPieces } from '../../../platform/in-pieces.ts';
import { defineDeployment } from '../../../protocol/deployment.ts';
import { parseSequenceId, sequenceIdOf } from '../../../protocol/sequence-id.ts';
import { ofInput, toWireError } from '../../../protocol/wire-errors.ts';
import type { BatchRecord } from '../../../protocol/stats.ts';
import type { BatchKnobs } from '../../../protocol/status.ts';
import type { RequestId } from '../../../protocol/ids.ts';
import type { EncoderTask, EncoderWork } from '../../embedding/encoder-task.ts';
import { longestOf, sumOf, type EncoderRow } from '../../runtime/encoder-inputs.ts';
import type { EncoderRun } from '../../runtime/encoder/encoder-runner.ts';
import type { LoadedEncoder } from '../../runtime/encoder/loaded-encoder.ts';
import { type Submission, WaitingRoom } from '../../text-generation/submissions.ts';
import { BatchedDeployment, type Answer, type BatchedDeploymentListener } from './batched-deployment.ts';
import type { ServedDeployment } from './deployment-set.ts';
import type { TextPace } from './text-pace.ts';

/** Tokens of a batch, padding included. On one thread of a CPU, larger batches are no faster, and hold up the text generator. */
const MAX_BATCH_TOKENS = 1024;

/** Rows that are sorted by length. A lone text waits behind no more than these. */
const SORT_WINDOW = 128;

/** A row's vector or score, with the device of its batch. */
class EncodedRow {
  readonly output: Float32Array;
  readonly backend: EncoderRun['backend'];

  constructor(output: Float32Array, backend: EncoderRun['backend']) {
    this.output = output;
    this.backend = backend;
  }
}

/** A request whose rows are computed. */
interface Started extends EncoderWork {
  readonly submission: Submission;
  readonly outputs: Float32Array[];
  numLeft: number;
}

/** `none`: the next request asks for a model, either that of an earlier worker or one that was ejected. */
type ModelState =
  | { readonly type: 'none' | 'restoring'; readonly isEjected: boolean }
  | { readonly type: 'ready'; readonly model: LoadedEncoder }
  /** It ends its requests before it goes. Those that come meanwhile wait. */
  | { readonly type: 'leaving'; readonly model: LoadedEncoder; readonly onIdle: () => void }
  | { readonly type: 'failed'; readonly error: unknown };

interface EncoderDeploymentOptions {
  readonly clock: Clock;
  /** Shares the device with texts. */
  readonly pace: Pick<TextPace, 'roomMs' | 'run'>;
  readonly listener: BatchedDeploymentListener;
  /** Called if a request comes before a model, or after its ejection: leads to `use` or `fail`. */
  readonly restore: () => void;
}

/** Serves a task of encoders. Each text of a request is an item of a batch of its own, measured in padded tokens. */
export class EncoderDeployment implements ServedDeployment<BatchKnobs> {
  readonly #task: EncoderTask;
  readonly #options: EncoderDeploymentOptions;
  readonly #batched: BatchedDeployment;
  readonly #early = new WaitingRoom();
  readonly #started = new Map<RequestId, Started>();
  #model: ModelState = { type: 'none', isEjected: false };

  constructor(task: EncoderTask, options: EncoderDeploymentOptions, maxRows?: number) {
    this.#task = task;
    this.#options = options;
    const { clock, listener } = options;
    const deployment = defineDeployment<EncoderRow, EncodedRow>({
      name: task.name,
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only #start submits
      checkInput: (input) => input as EncoderRow,
      batchOptions: {
        maxBatchSize: MAX_BATCH_TOKENS,
        batchSizeFn: (rows) => this.#paddedTokens(rows),
        sortWindow: SORT_WINDOW,
      },
      handler: (rows) => this.#run(rows),
    });
    this.#batched = new BatchedDeployment(
      deployment,
      clock,
      {
        onBatch: (batch, answers) => this.#onBatch(batch, answers),
        onFailed: (rowId, error) => this.#onFailed(rowId, error),
        onQueueWait: (queueWaitMs) => listener.onQueueWait(queueWaitMs),
      },
      maxRows,
    );
  }

  /** Whether a model serves, or would with the next request. */
  get isListed(): boolean {
    return 'model' in this.#model || ('isEjected' in this.#model && this.#model.isEjected);
  }

  /** Whether requests wait for what `restore` leads to. */
  get isAsking(): boolean {
    return this.#model.type === 'restoring';
  }

  get knobs(): BatchKnobs {
    return this.#batched.knobs;
  }

  configure(knobs: unknown): BatchKnobs {
    return this.#batched.configure(knobs);
  }

  changed(own: BatchKnobs, knobs: unknown): BatchKnobs {
    return this.#batched.changed(own, knobs);
  }

  /** Serves with this model. Requests that are not answered begin again. Returns the model before it. */
  use(model: LoadedEncoder): LoadedEncoder | undefined {
    const old = modelOf(this.#model);
    const started = [...this.#started.values()];
    this.#started.clear();
    for (const { submission, rows } of started) this.#cancelRows(submission.requestId, rows);
    this.#early.enter(started.map(({ submission }) => submission));
    this.#model = { type: 'ready', model };
    this.#startEarly();
    return old;
  }

  /** Lets the model go when its requests have ended, and returns it. */
  async eject(): Promise<LoadedEncoder | undefined> {
    if (this.#model.type !== 'ready') return undefined;
    const { model } = this.#model;
    const { promise: idle, resolve: onIdle } = Promise.withResolvers<void>();
    this.#model = { type: 'leaving', model, onIdle };
    this.#noteIdle();
    await idle;
    this.#model = { type: 'none', isEjected: true };
    if (this.#early.size > 0) this.#restore();
    return model;
  }

  /** There is no model. Requests that wait fail. */
  fail(error: unknown): void {
    if ('model' in this.#model) return;
    this.#model = { type: 'failed', error };
    this.#startEarly();
  }

  submitAll(submissions: readonly Submission[]): void {
    this.#early.enter(submissions);
    if (this.#model.type === 'none') this.#restore();
    else if (this.#model.type === 'ready' || this.#model.type === 'failed') void this.#start(submissions);
  }

  cancel(requestId: RequestId): void {
    const error = RequestCancelledError.because(undefined);
    if (this.#early.leave(requestId)) this.#options.listener.onFailed(requestId, error);
    else this.#end(requestId, error);
  }

  #restore(): void {
    this.#model = { type: 'restoring', isEjected: this.isListed };
    this.#options.restore();
  }

  #noteIdle(): void {
    if (this.#model.type === 'leaving' && this.#started.size === 0) this.#model.onIdle();
  }

  #startEarly(): void {
    for (const submissions of this.#early.turns) void this.#start(submissions);
  }

  /** Reads the requests of one turn. Either all are accepted or none. */
  async #start(submissions: readonly Submission[]): Promise<void> {
    const { state, works, error } = await this.#read(submissions);
    // `use` has started them again.
    if (state !== this.#model) return;
    if (!works) {
      for (const { requestId } of submissions)
        if (this.#early.leave(requestId)) this.#options.listener.onFailed(requestId, error);
      return;
    }
    const rows = submissions.flatMap((submission, at) => {
      const { requestId, clientId, turn = [], isBackground = false } = submission;
      const work = works[at];
      // It was cancelled meanwhile.
      if (!work || !this.#early.leave(requestId)) return [];
      this.#started.set(requestId, { ...work, submission, outputs: [], numLeft: work.rows.length });
      return work.rows.map((input, index) => ({
        requestId: sequenceIdOf(requestId, index),
        clientId,
        turn,
        isBackground,
        input,
        options: {},
      }));
    });
    this.#batched.submitAll(rows);
  }

  /** A short request does not wait for the reading of a long one. */
  async #read(submissions: readonly Submission[]) {
    const state = this.#model;
    try {
      const reading = this.#readAll(submissions, state);
      const first = reading.next();
      return { state, works: first.done ? first.value : await inPieces(reading) };
    } catch (error) {
      return { state, error };
    }
  }

  *#readAll(submissions: readonly Submission[], state: ModelState): Generator<void, readonly EncoderWork[]> {
    if (state.type === 'failed') throw state.error;
    const works: EncoderWork[] = [];
    if (state.type !== 'ready') return works;
    for (const { input, options, place } of submissions)
      try {
        works.push(yield* this.#task.read(input, options, state.model));
      } catch (error) {
        throw error instanceof Error && isOfInput(error) ? ofInput(error, place) : error;
      }
    return works;
  }

  /** A row alone always fits. Rows whose attention scores are too large together, or that would hold up texts, do not. */
  #paddedTokens(rows: readonly EncoderRow[]): number {
    const size = rows.length * longestOf(rows);
    if (rows.length === 1) return Math.min(size, this.knobs.maxBatchSize);
    const model = modelOf(this.#model);
    if (!model) return size;
    const { backend } = model;
    const { roomMs } = this.#options.pace;
    const isTooLong = roomMs < Infinity && sumOf(rows) > backend.tokensWithin(roomMs);
    return isTooLong || !backend.fits(rows) ? Infinity : size;
  }

  async #run(rows: readonly EncoderRow[]): Promise<readonly (EncodedRow | Error)[]> {
    const model = modelOf(this.#model);
    if (!model) throw new Error('Expected rows of a model');
    const { outputs, backend } = await this.#options.pace.run(() => {
      // `use` has started their requests again.
      if (modelOf(this.#model) !== model) throw new Error('Another model serves');
      return model.backend.run(rows);
    });
    return outputs.map((output) => {
      const isFinite = output.every((value) => Number.isFinite(value));
      return isFinite ? new EncodedRow(output, backend) : modelRunFailed('a value is not a number');
    });
  }

  #onBatch(batch: BatchRecord, answers: readonly Answer[]): void {
    const ended: Answer[] = [];
    let numTokens = 0;
    let ranOn: Pick<EncodedRow, 'backend'> | undefined;
    for (const { requestId: rowId, result } of answers) {
      if (!(result instanceof EncodedRow)) continue;
      ranOn = { backend: result.backend };
      const { requestId, index } = parseSequenceId(rowId);
      const request = this.#started.get(requestId);
      if (!request) continue;
      request.outputs[index] = result.output;
      numTokens += request.rows[index]?.tokenIds.length ?? 0;
      request.numLeft -= 1;
      if (request.numLeft > 0) continue;
      this.#started.delete(requestId);
      ended.push({ requestId, result: request.answer(request.outputs) });
    }
    this.#options.listener.onBatch({ ...batch, ...ranOn, numTokens }, ended);
    this.#noteIdle();
  }

  #onFailed(rowId: RequestId, error: unknown): void {
    const { requestId } = parseSequenceId(rowId);
    this.#end(requestId, error instanceof RuntimeLostError ? ofRequests(error) : error);
  }

  /** Ends a request that has not ended, and drops its other rows. */
  #end(requestId: RequestId, error: unknown): void {
    const request = this.#started.get(requestId);
    if (!request) return;
    this.#started.delete(requestId);
    this.#cancelRows(requestId, request.rows);
    this.#options.listener.onFailed(requestId, error);
    this.#noteIdle();
  }

  #cancelRows(requestId: RequestId, rows: readonly EncoderRow[]): void {
    for (const index of rows.keys()) this.#batched.cancel(sequenceIdOf(requestId, index));
  }
}

function modelOf(state: ModelState): LoadedEncoder | undefined {
  return 'model' in state ? state.model : undefined;
}

/** Options are those of all inputs. */
function isOfInput(error: Error): boolean {
  const { param = 'input' } = toWireError(error);
  return ['input', 'query', 'documents'].includes(param);
}

/** Names requests in place of their rows. */
function ofRequests({ cause, requestIds }: RuntimeLostError): RuntimeLostError {
  return new RuntimeLostError(cause, [...new Set(requestIds.map((id) => parseSequenceId(id).requestId))]);
}
