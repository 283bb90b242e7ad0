import { systemClock } from '../../batching/clock.ts';
import { InvalidOptionError } from '../../batching/errors.ts';
import { Engine } from '../../batching/generation/engine.ts';
import type {
  FailedEvent,
  FinishedEvent,
  RequestEvent,
  RequestTimings,
  StartedEvent,
  StepEvent,
  TokenEvent,
} from '../../batching/generation/events.ts';
import type { BatchingPolicy } from '../../batching/generation/policy.ts';
import type { LoadedModel } from '../load-model.ts';
import type { ClientId, GenerationResult, RequestId, RequestUpdate, Resumption } from '../protocol.ts';
import { Gpt2Runner } from '../runtime/gpt2-runner.ts';
import { toWireError } from '../wire-errors.ts';
import { Continuation } from './continuation.ts';
import { EmptyPromptError, PromptTooLongError } from './errors.ts';
import { resolveOptions } from './generation-options.ts';

export interface TextGeneratorListener {
  /** All that one step (or one cancellation) brought. */
  onUpdates(updates: readonly RequestUpdate[]): void;
  onStep(event: StepEvent): void;
  onEnded(events: readonly FailedEvent[]): void;
}

export interface Submission {
  readonly requestId: RequestId;
  readonly clientId: ClientId;
  readonly prompt: unknown;
  readonly options: unknown;
  /** Submitted -> received here, as far as its tab knows, ms. */
  readonly elapsedMs: number;
  /** What a lost worker has done of it already. */
  readonly resumption?: Resumption | undefined;
}

/** What is kept of an accepted request until it ends. */
interface ActiveText {
  readonly prompt: string;
  readonly echo: boolean;
  readonly seed: number;
  readonly continuation: Continuation;
  readonly elapsedMs: number;
  readonly resumption: Resumption | undefined;
}

/** The deployment that continues prompts: text in, text out, over the engine's token ids. */
export class TextGenerator {
  readonly #model: LoadedModel;
  readonly #engine: Engine;
  readonly #listener: TextGeneratorListener;
  readonly #active = new Map<RequestId, ActiveText>();

  constructor(model: LoadedModel, policy: BatchingPolicy, listener: TextGeneratorListener) {
    this.#model = model;
    this.#listener = listener;
    this.#engine = new Engine({
      runner: new Gpt2Runner(model.backend, model.config),
      clock: systemClock,
      contextLength: model.config.contextLength,
      eosTokenIds: model.config.eosTokenIds,
      policy,
      listener: {
        onStep: (event) => {
          this.#listener.onUpdates(this.#updatesOf(event.requests));
          this.#listener.onStep(event);
        },
        onEnded: (events) => {
          this.#listener.onUpdates(this.#updatesOf(events));
          this.#listener.onEnded(events);
        },
      },
    });
  }

  get numRunning(): number {
    return this.#engine.numRunning;
  }

  get numWaiting(): number {
    return this.#engine.numWaiting;
  }

  /**
   * Accepts a request. What becomes of it is told to the listener.
   *
   * @throws EmptyPromptError, PromptTooLongError, InvalidOptionError, UnknownOptionError, BackPressureError.
   * @returns The number of prompt tokens.
   */
  submit({ requestId, clientId, prompt, options, elapsedMs, resumption }: Submission): number {
    if (typeof prompt !== 'string') throw InvalidOptionError.of('prompt', 'a string', prompt);
    const { maxNewTokens, stop, echo, priority, sampling } = resolveOptions(options, this.#model.modelInfo);
    const promptTokenIds = this.#tokenize(prompt);
    const resumedTokenIds = resumption?.tokenIds ?? [];
    checkVocabulary(resumedTokenIds, this.#model.modelInfo.vocabSize);
    const continuation = new Continuation(
      this.#model.tokenizer.createTextStream(),
      stop,
      sampling.numLogprobs !== undefined,
    );
    continuation.resume(resumedTokenIds, resumption?.logprobs);
    this.#engine.submit({
      id: requestId,
      clientId,
      promptTokenIds,
      resumedTokenIds,
      maxNewTokens,
      priority,
      stopsAfter: (tokenId) => continuation.push(tokenId),
      sampling,
    });
    this.#active.set(requestId, { prompt, echo, seed: sampling.seed, continuation, elapsedMs, resumption });
    return promptTokenIds.length;
  }

  /** Ends a request with RequestCancelledError; does nothing where it has ended already. */
  cancel(requestId: RequestId): void {
    this.#engine.abort(requestId);
  }

  /** Ends a request with this error; does nothing where it has ended already. */
  fail(requestId: RequestId, error: Error): void {
    this.#engine.fail(requestId, error);
  }

  /** @throws InvalidOptionError, UnknownOptionError; then nothing is changed. */
  configure(knobs: unknown): BatchingPolicy {
    return this.#engine.configure(knobs);
  }

  #tokenize(prompt: string): number[] {
    const { tokenizer, config } = this.#model;
    const { contextLength } = config;
    // Tokenizing holds the worker up, and with it every tab.
    const minTokens = Math.ceil(prompt.length / tokenizer.maxTokenBytes);
    if (minTokens >= contextLength) throw PromptTooLongError.atLeast(minTokens, contextLength);
    const promptTokenIds = tokenizer.encode(prompt);
    if (promptTokenIds.length === 0) throw EmptyPromptError.of();
    if (promptTokenIds.length >= contextLength)
      throw PromptTooLongError.of(promptTokenIds.length, contextLength);
    return promptTokenIds;
  }

  #updatesOf(events: readonly RequestEvent[]): RequestUpdate[] {
    return events.flatMap((event) => {
      const text = this.#active.get(event.requestId);
      return text ? this.#updatesOfOne(event, text) : [];
    });
  }

  #updatesOfOne(event: RequestEvent, text: ActiveText): RequestUpdate[] {
    const { requestId } = event;
    switch (event.type) {
      case 'started':
        return startedUpdates(event, text);
      case 'token':
        return [chunkUpdate(event, text)];
      case 'finished':
        this.#active.delete(requestId);
        return finishedUpdates(event, text);
      case 'failed':
        this.#active.delete(requestId);
        return [{ type: 'failed', requestId, error: toWireError(event.error) }];
      default:
        return event satisfies never;
    }
  }
}

/** A tab that a lost worker had told of the start has the echo, too. */
function startedUpdates({ requestId, queueWaitMs }: StartedEvent, text: ActiveText): RequestUpdate[] {
  const isEchoDue = text.echo && text.resumption?.queueWaitMs === undefined;
  return [
    { type: 'started', requestId, queueWaitMs: wholeQueueWaitMs(queueWaitMs, text) },
    ...(isEchoDue ? [{ type: 'echo', requestId, text: text.prompt } as const] : []),
  ];
}

function chunkUpdate({ requestId, tokenId, logprobs, ttftMs }: TokenEvent, text: ActiveText): RequestUpdate {
  const { continuation, resumption } = text;
  const isFirst = ttftMs !== undefined && resumption?.ttftMs === undefined;
  if (logprobs) continuation.pushLogprobs(logprobs);
  return {
    type: 'chunk',
    requestId,
    text: continuation.takeText(),
    tokenIds: [tokenId],
    ...(logprobs && { logprobs: [logprobs] }),
    ...(isFirst && { ttftMs: ttftMs + text.elapsedMs }),
  };
}

/** The result, after a last chunk where text was held back. */
function finishedUpdates(event: FinishedEvent, text: ActiveText): RequestUpdate[] {
  const { requestId } = event;
  const { rest, generatedText, finishReason, logprobs } = text.continuation.end(event.finishReason);
  const result: GenerationResult = {
    text: text.prompt + generatedText,
    generatedText,
    tokenIds: event.tokenIds,
    ...(logprobs && { logprobs }),
    finishReason,
    seed: text.seed,
    usage: { numPromptTokens: event.numPromptTokens, numOutputTokens: event.numOutputTokens },
    timings: wholeTimings(event, text),
  };
  const lastChunk: RequestUpdate[] =
    rest === '' ? [] : [{ type: 'chunk', requestId, text: rest, tokenIds: [] }];
  return [...lastChunk, { type: 'finished', requestId, result }];
}

/** As the caller has waited: from the submission on, whichever worker it went to. */
function wholeTimings({ timings, numOutputTokens }: FinishedEvent, text: ActiveText): RequestTimings {
  const { elapsedMs, resumption } = text;
  const queueWaitMs = wholeQueueWaitMs(timings.queueWaitMs, text);
  const ttftMs = resumption?.ttftMs ?? timings.ttftMs + elapsedMs;
  const e2eMs = timings.e2eMs + elapsedMs;
  return {
    queueWaitMs,
    ttftMs,
    e2eMs,
    tpotMs: numOutputTokens > 1 ? (e2eMs - ttftMs) / (numOutputTokens - 1) : 0,
  };
}

function wholeQueueWaitMs(queueWaitMs: number, { elapsedMs, resumption }: ActiveText): number {
  return resumption?.queueWaitMs ?? queueWaitMs + elapsedMs;
}

function checkVocabulary(tokenIds: readonly number[], vocabSize: number): void {
  const foreign = tokenIds.find((tokenId) => tokenId >= vocabSize);
  if (foreign !== undefined) {
    throw InvalidOptionError.of('resumption.tokenIds', `ids of the model's ${vocabSize} tokens`, foreign);
  }
}
