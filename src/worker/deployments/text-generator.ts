import { systemClock } from '../../batching/clock.ts';
import { InvalidOptionError } from '../../batching/errors.ts';
import { Engine } from '../../batching/generation/engine.ts';
import type {
  FailedEvent,
  FinishedEvent,
  RequestEvent,
  StepEvent,
  TokenEvent,
} from '../../batching/generation/events.ts';
import type { BatchingPolicy } from '../../batching/generation/policy.ts';
import type { LoadedModel } from '../load-model.ts';
import type { TextStream } from '../model/text-stream.ts';
import type { ClientId, GenerationResult, RequestId, RequestUpdate, TokenLogprobs } from '../protocol.ts';
import { Gpt2Runner } from '../runtime/gpt2-runner.ts';
import { toWireError } from '../wire-errors.ts';
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
}

/** What is kept of an accepted request until it ends. */
interface ActiveText {
  readonly prompt: string;
  readonly seed: number;
  readonly stream: TextStream;
  generatedText: string;
  /** Where they were asked for. */
  readonly logprobs?: TokenLogprobs[];
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
  submit({ requestId, clientId, prompt, options }: Submission): number {
    if (typeof prompt !== 'string') throw InvalidOptionError.of('prompt', 'a string', prompt);
    const { maxNewTokens, sampling } = resolveOptions(options, this.#model.modelInfo);
    const promptTokenIds = this.#tokenize(prompt);
    this.#engine.submit({ id: requestId, clientId, promptTokenIds, maxNewTokens, sampling });
    const stream = this.#model.tokenizer.createTextStream();
    this.#active.set(requestId, {
      prompt,
      seed: sampling.seed,
      stream,
      generatedText: '',
      ...(sampling.numLogprobs !== undefined && { logprobs: [] }),
    });
    return promptTokenIds.length;
  }

  /** Ends a request with RequestCancelledError; does nothing where it has ended already. */
  cancel(requestId: RequestId): void {
    this.#engine.abort(requestId);
  }

  /** @throws InvalidOptionError, UnknownOptionError; then nothing is changed. */
  configure(knobs: unknown): BatchingPolicy {
    return this.#engine.configure(knobs);
  }

  #tokenize(prompt: string): number[] {
    const promptTokenIds = this.#model.tokenizer.encode(prompt);
    const { contextLength } = this.#model.config;
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
        return [event];
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

function chunkUpdate({ requestId, tokenId, logprobs, ttftMs }: TokenEvent, text: ActiveText): RequestUpdate {
  const tokenText = text.stream.push(tokenId);
  text.generatedText += tokenText;
  if (logprobs) text.logprobs?.push(logprobs);
  return {
    type: 'chunk',
    requestId,
    text: tokenText,
    tokenIds: [tokenId],
    ...(logprobs && { logprobs: [logprobs] }),
    ...(ttftMs !== undefined && { ttftMs }),
  };
}

/** The result, after a last chunk where the text ended inside a character. */
function finishedUpdates(event: FinishedEvent, text: ActiveText): RequestUpdate[] {
  const { requestId } = event;
  const rest = text.stream.end();
  const generatedText = text.generatedText + rest;
  const result: GenerationResult = {
    text: text.prompt + generatedText,
    generatedText,
    tokenIds: event.tokenIds,
    ...(text.logprobs && { logprobs: text.logprobs }),
    finishReason: event.finishReason,
    seed: text.seed,
    usage: { numPromptTokens: event.numPromptTokens, numOutputTokens: event.numOutputTokens },
    timings: event.timings,
  };
  const lastChunk: RequestUpdate[] =
    rest === '' ? [] : [{ type: 'chunk', requestId, text: rest, tokenIds: [] }];
  return [...lastChunk, { type: 'finished', requestId, result }];
}
