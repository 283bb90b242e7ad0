import type { Clock } from '../../../batching/base/clock.ts';
import { InvalidOptionError, RequestCancelledError } from '../../../batching/base/errors.ts';
import { integerIn } from '../../../batching/base/validate.ts';
import type { EngineGauges } from '../../../batching/metrics/generation-metrics.ts';
import type { StatsReporter } from '../../logs/stats-reporter.ts';
import { isChat } from '../../../protocol/chat.ts';
import { EmptyPromptError } from '../../../protocol/errors/deployments.ts';
import { resolveOptions, type ResolvedOptions } from '../generation-options.ts';
import { readMessages } from '../read-messages.ts';
import type { Accepted, PromptGenerator, Submission } from '../prompt-generator.ts';
import { type ModelInfo, toServedModel } from '../../../protocol/models.ts';
import type { RequestId } from '../../../protocol/ids.ts';
import type { RequestUpdate } from '../../../protocol/requests.ts';
import { namingInput, toWireError } from '../../../protocol/wire-errors.ts';
import { upstreamCall, type UpstreamCall, type UpstreamPrompt } from './completion-body.ts';
import { CompletionStream, type Received } from './completion-stream.ts';
import type { UpstreamConnection } from './upstream-connection.ts';
import type { UpstreamModel } from './upstream-model.ts';

export interface UpstreamGeneratorOptions {
  readonly connection: Pick<UpstreamConnection, 'ask' | 'cancel'>;
  readonly model: UpstreamModel;
  readonly clock: Clock;
  readonly stats: Pick<StatsReporter, 'recordMeasured' | 'recordSubmitted'>;
  /** Called with all updates of one event of the upstream or of one cancellation. */
  readonly onUpdates: (updates: readonly RequestUpdate[]) => void;
}

/** Continues prompts with an OpenAI-compatible server, over the bridge that serves the page. */
export class UpstreamGenerator implements PromptGenerator {
  readonly #options: UpstreamGeneratorOptions;
  /** For the checks of options. The upstream enforces limits that are not known here. */
  readonly #limits: ModelInfo;
  readonly #streams = new Map<RequestId, CompletionStream>();
  /** Time of the last event of any request, or of the start of the first running one. */
  #busySinceMs = 0;

  constructor(options: UpstreamGeneratorOptions) {
    const { modelInfo } = options.model;
    this.#options = options;
    this.#limits = {
      ...modelInfo,
      contextLength: modelInfo.contextLength || Number.MAX_SAFE_INTEGER,
      vocabSize: Infinity,
    };
  }

  /** A request counts as running once the upstream has taken it, even if it waits there. */
  get gauges(): EngineGauges {
    const numRunning = [...this.#streams.values()].filter(({ isStarted }) => isStarted).length;
    const kvCache = { usedBytes: 0, reservedBytes: 0 };
    return { numRunning, numWaiting: this.#streams.size - numRunning, kvCache };
  }

  // oxlint-disable-next-line require-yield -- the upstream tokenizes
  *readAll(submissions: readonly Submission[]): Generator<void, () => readonly Accepted[]> {
    // Every request is checked before the first is sent.
    const begins = submissions.map((submission) => this.#prepare(submission));
    return () => begins.map((begin) => begin());
  }

  /** @throws InvalidOptionError, UnknownOptionError, EmptyPromptError, ResponseFormatUnsupportedError. */
  #prepare(submission: Submission): () => Accepted {
    const { input, options, place } = submission;
    const prompt = namingInput(place, () => readPrompt(input));
    const resolved = resolveOptions(options, this.#limits, isChat(input));
    if (isChat(input)) checkChat(resolved);
    const call = upstreamCall(prompt, resolved, this.#options.model, this.#limits.contextLength);
    return () => this.#begin(submission, prompt, resolved, call);
  }

  #begin(
    { requestId, elapsedMs, resumption }: Submission,
    prompt: UpstreamPrompt,
    resolved: ResolvedOptions,
    call: UpstreamCall,
  ): Accepted {
    const { connection, model, clock, onUpdates } = this.#options;
    const { n, sampling } = resolved;
    const served = toServedModel(model.modelInfo, model.backendInfo);
    const receivedAtMs = clock.now();
    const stream = new CompletionStream({
      ...resolved,
      url: model.backendInfo.adapter,
      requestId,
      model: served,
      prompt: typeof prompt === 'string' ? prompt : '',
      isChat: typeof prompt !== 'string',
      seed: sampling.seed,
      numLogprobs: sampling.logprobs,
      elapsedMs,
      receivedAtMs,
    });
    if (this.#streams.size === 0) this.#busySinceMs = receivedAtMs;
    this.#streams.set(requestId, stream);
    // No server can continue in the middle of a text, so it starts again with the same seed.
    const hasBegun = resumption?.queueWaitMs !== undefined || (resumption?.choices.length ?? 0) > 0;
    if (hasBegun) onUpdates([{ type: 'restarted', requestId, model: served }]);
    connection.ask(requestId, call, {
      onHead: () => this.#receive(requestId, (nowMs) => stream.start(nowMs)),
      onData: (data) => this.#receive(requestId, (nowMs) => stream.push(data, nowMs)),
      onEnd: () => this.#finish(requestId, stream),
      onError: (error) => this.#end(requestId, error),
    });
    return { numPromptTokens: 0, numSequences: n };
  }

  cancel(requestId: RequestId): void {
    this.fail(requestId, RequestCancelledError.because(undefined));
  }

  /** Ends the request here and at the upstream. */
  fail(requestId: RequestId, error: unknown): void {
    if (!this.#streams.has(requestId)) return;
    this.#options.connection.cancel(requestId);
    this.#end(requestId, error);
  }

  dropAll(): Promise<void> {
    for (const requestId of this.#streams.keys()) this.#options.connection.cancel(requestId);
    this.#streams.clear();
    return Promise.resolve();
  }

  /** 0, since waiting for the upstream does not block the worker. */
  get patienceMs(): number {
    return 0;
  }

  #receive(requestId: RequestId, read: (nowMs: number) => Received): void {
    if (!this.#streams.has(requestId)) return;
    const nowMs = this.#options.clock.now();
    try {
      this.#report(read(nowMs), nowMs);
    } catch (error) {
      this.fail(requestId, error);
    }
  }

  #finish(requestId: RequestId, stream: CompletionStream): void {
    this.#receive(requestId, (nowMs) => {
      const received = stream.end(nowMs);
      this.#streams.delete(requestId);
      // The prompt's length is not known earlier.
      this.#options.stats.recordSubmitted(stream.numPromptTokens, 0);
      return received;
    });
  }

  #report({ updates, measured }: Received, nowMs: number): void {
    const { onUpdates, stats } = this.#options;
    const busyMs = nowMs - this.#busySinceMs;
    this.#busySinceMs = nowMs;
    if (updates.length > 0) onUpdates(updates);
    if (measured.length > 0) stats.recordMeasured(measured, busyMs);
  }

  #end(requestId: RequestId, error: unknown): void {
    if (!this.#streams.delete(requestId)) return;
    const finishReason = error instanceof RequestCancelledError ? 'abort' : 'error';
    const failed: RequestUpdate = { type: 'failed', requestId, error: toWireError(error) };
    this.#report(
      { updates: [failed], measured: [{ type: 'failed', finishReason }] },
      this.#options.clock.now(),
    );
  }
}

function readPrompt(input: unknown): UpstreamPrompt {
  if (isChat(input)) return readMessages(input);
  if (input === '' || (Array.isArray(input) && input.length === 0)) throw EmptyPromptError.of();
  if (typeof input === 'string') return input;
  throw InvalidOptionError.of('prompt', 'a string or a list of messages', input);
}

/** No server streams the logprobs of a chat's prompt, or a chat without an answer. */
function checkChat({ maxNewTokens, promptLogprobs }: ResolvedOptions): void {
  if (promptLogprobs !== undefined)
    throw InvalidOptionError.of('promptLogprobs', 'left out for a chat at an upstream', promptLogprobs);
  integerIn({ from: 1 })('maxNewTokens', maxNewTokens);
}
