import { createParser } from 'eventsource-parser';
import type { Clock } from '../../../batching/base/clock.ts';
import { InvalidOptionError, RequestCancelledError } from '../../../batching/base/errors.ts';
import { integerIn } from '../../../batching/base/validate.ts';
import type { EngineGauges } from '../../../batching/metrics/generation-metrics.ts';
import { isChat } from '../../../protocol/chat.ts';
import type { RequestId } from '../../../protocol/ids.ts';
import type { ModelInfo } from '../../../protocol/models.ts';
import { serverCall, type ServerCall, type ServerPrompt } from '../../../protocol/openai/completion-body.ts';
import { CompletionStream, type Received } from '../../../protocol/openai/completion-stream.ts';
import type { ServerModel } from '../../../protocol/openai/server-model.ts';
import { readMessages } from '../../../protocol/read-messages.ts';
import type { RequestUpdate, SubmittedRequest } from '../../../protocol/requests.ts';
import { resolveOptions, type ResolvedOptions } from '../../../protocol/resolve-options.ts';
import { badAnswer, notAtServer, unreachable } from '../../../protocol/server-errors.ts';
import type { StatsReporter } from '../../../protocol/stats-reporter.ts';
import { namingInput, toWireError } from '../../../protocol/wire-errors.ts';
import type { Gate } from './gate.ts';
import { reasonOf, type ServerHttp } from './server-http.ts';
import { emptyPrompt } from '../../../protocol/errors/deployment-messages.ts';

interface TextRequestsOptions {
  readonly http: Pick<ServerHttp, 'shownUrl' | 'post'>;
  readonly model: ServerModel;
  readonly gate: Gate;
  readonly clock: Clock;
  readonly stats: Pick<StatsReporter, 'recordMeasured' | 'recordSubmitted'>;
  /** Called with all updates of one event of the server. */
  readonly onUpdates: (updates: readonly RequestUpdate[]) => void;
}

/** Sends a request. Never rejects. */
export type Send = (signal: AbortSignal) => Promise<void>;

interface Sent {
  readonly requestId: RequestId;
  readonly stream: CompletionStream;
  readonly signal: AbortSignal;
  readonly isBackground: boolean;
}

/** Longer events are no pieces of a text. */
const MAX_EVENT_LENGTH = 2 ** 20;

/** The texts that a server is asked for. */
export class TextRequests {
  readonly model: ServerModel;
  readonly #options: TextRequestsOptions;
  /** For the checks of options. The server enforces limits that are not known here. */
  readonly #limits: ModelInfo;
  readonly #streams = new Map<RequestId, CompletionStream>();
  /** Time of the last event of any request, or of the start of the first running one. */
  #busySinceMs = 0;

  constructor(options: TextRequestsOptions) {
    const { modelInfo } = options.model;
    this.#options = options;
    this.model = options.model;
    this.#limits = {
      ...modelInfo,
      contextLength: modelInfo.contextLength || Number.MAX_SAFE_INTEGER,
      vocabSize: Infinity,
    };
  }

  /** A request counts as running once the server has taken it, even if it waits there. */
  get gauges(): EngineGauges {
    const numRunning = [...this.#streams.values()].filter(({ isStarted }) => isStarted).length;
    const kvCache = { usedBytes: 0, reservedBytes: 0 };
    return { numRunning, numWaiting: this.#streams.size - numRunning, kvCache };
  }

  /**
   * Checks a request before any is sent. Returns a function that sends it.
   *
   * @param isBackground Whether it waits behind all others for a connection.
   * @throws InvalidOptionError, UnknownOptionError, EmptyPromptError, ResponseFormatUnsupportedError, ServerError.
   */
  prepare({ requestId, input, options, place, elapsedMs }: SubmittedRequest, isBackground: boolean): Send {
    const { model, http, clock } = this.#options;
    const prompt = namingInput(place, () => readPrompt(input));
    const resolved = resolveOptions(options, this.#limits, isChat(input));
    if (isChat(input)) checkChat(resolved);
    this.checkLogprobs(resolved.sampling.logprobs, resolved.promptLogprobs);
    const call = serverCall(prompt, resolved, model, this.#limits.contextLength);
    const stream = new CompletionStream({
      ...resolved,
      url: http.shownUrl,
      requestId,
      model: { id: model.modelId, backend: 'server', precision: 'unknown' },
      prompt: typeof prompt === 'string' ? prompt : '',
      isChat: typeof prompt !== 'string',
      seed: resolved.sampling.seed,
      numLogprobs: resolved.sampling.logprobs,
      elapsedMs,
      receivedAtMs: clock.now(),
    });
    return (signal) =>
      this.#send({ requestId, stream, signal, isBackground }, resolved.n, () =>
        this.#read(requestId, stream, call, signal),
      );
  }

  /** Ends a request with this error. Does nothing if it has ended already. */
  fail(requestId: RequestId, error: unknown): void {
    if (!this.#streams.delete(requestId)) return;
    const finishReason = error instanceof RequestCancelledError ? 'abort' : 'error';
    const failed: RequestUpdate = { type: 'failed', requestId, error: toWireError(error) };
    this.#report(
      { updates: [failed], measured: [{ type: 'failed', finishReason }] },
      this.#options.clock.now(),
    );
  }

  /** Only vLLM names the tokens of log probabilities by their IDs. @throws ServerError. */
  checkLogprobs(...asked: readonly unknown[]): void {
    const { model, http } = this.#options;
    if (model.sendsIds || asked.every((each) => each === undefined)) return;
    const remedy = 'ask a vLLM or a model in the tab for them';
    throw notAtServer(http.shownUrl, 'Log probabilities with the IDs of tokens are not sent by', remedy);
  }

  async #send(
    { requestId, stream, signal, isBackground }: Sent,
    numChoices: number,
    ask: () => Promise<void>,
  ): Promise<void> {
    const { clock, gate, stats } = this.#options;
    if (this.#streams.size === 0) this.#busySinceMs = clock.now();
    this.#streams.set(requestId, stream);
    stats.recordSubmitted(0, numChoices);
    try {
      await gate.run(async () => {
        if (!signal.aborted) await ask();
      }, isBackground);
      this.#finish(requestId, stream);
    } catch (error) {
      // Whoever aborted it has said why. Another request may have its ID by now.
      if (!signal.aborted) this.fail(requestId, error);
    }
  }

  async #read(
    requestId: RequestId,
    stream: CompletionStream,
    { path, body }: ServerCall,
    signal: AbortSignal,
  ): Promise<void> {
    const { http } = this.#options;
    const answer = await http.post(path, body, signal);
    const isStream = answer.headers.get('content-type')?.startsWith('text/event-stream');
    if (!isStream || !answer.body) {
      await answer.body?.cancel();
      throw badAnswer(http.shownUrl, `${path} with something that is no stream`);
    }
    this.#receive(requestId, stream, (nowMs) => stream.start(nowMs));
    const parser = createParser({
      onEvent: ({ data }) => this.#receive(requestId, stream, (nowMs) => stream.push(data, nowMs)),
      maxBufferSize: MAX_EVENT_LENGTH,
    });
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    try {
      for (let next = await this.#nextOf(reader); !next.done; next = await this.#nextOf(reader))
        parser.feed(next.value);
    } catch (error) {
      // An event that makes no sense ends the request at the server too.
      void reader.cancel().catch(() => {});
      throw error;
    }
  }

  async #nextOf(reader: ReadableStreamDefaultReader<string>): Promise<ReadableStreamReadResult<string>> {
    return reader.read().catch((error: unknown) => {
      throw unreachable(this.#options.http.shownUrl, reasonOf(error), error);
    });
  }

  #finish(requestId: RequestId, stream: CompletionStream): void {
    this.#receive(requestId, stream, (nowMs) => {
      const received = stream.end(nowMs);
      this.#streams.delete(requestId);
      // The prompt's length is not known earlier.
      this.#options.stats.recordSubmitted(stream.numPromptTokens, 0);
      return received;
    });
  }

  /** Reads nothing of a request that has ended, though another has its ID now: a row that runs again. */
  #receive(requestId: RequestId, stream: CompletionStream, read: (nowMs: number) => Received): void {
    if (this.#streams.get(requestId) !== stream) return;
    const nowMs = this.#options.clock.now();
    this.#report(read(nowMs), nowMs);
  }

  #report({ updates, measured }: Received, nowMs: number): void {
    const { onUpdates, stats } = this.#options;
    const busyMs = nowMs - this.#busySinceMs;
    this.#busySinceMs = nowMs;
    if (updates.length > 0) onUpdates(updates);
    if (measured.length > 0) stats.recordMeasured(measured, busyMs);
  }
}

function readPrompt(input: unknown): ServerPrompt {
  if (isChat(input)) return readMessages(input);
  if (input === '' || (Array.isArray(input) && input.length === 0)) throw emptyPrompt();
  if (typeof input === 'string') return input;
  throw InvalidOptionError.of('prompt', 'a string or a list of messages', input);
}

/** No server streams the logprobs of a chat's prompt, or a chat without an answer. */
function checkChat({ maxNewTokens, promptLogprobs }: ResolvedOptions): void {
  if (promptLogprobs !== undefined)
    throw InvalidOptionError.of('promptLogprobs', 'left out for a chat at a server', promptLogprobs);
  integerIn({ from: 1 })('maxNewTokens', maxNewTokens);
}
