import { systemClock } from '../../batching/clock.ts';
import { InvalidOptionError } from '../../batching/errors.ts';
import { Engine } from '../../batching/generation/engine.ts';
import type { FailedEvent, RequestEvent, StepEvent } from '../../batching/generation/events.ts';
import type { BatchingPolicy } from '../../batching/generation/policy.ts';
import { continuationSeed } from '../../batching/generation/random.ts';
import type { EngineGauges } from '../../batching/metrics/generation-metrics.ts';
import type { LoadedModel } from '../load-model.ts';
import type { ClientId, RequestId, RequestUpdate, Resumption } from '../protocol.ts';
import { Gpt2Runner } from '../runtime/gpt2-runner.ts';
import { sequenceIdOf } from '../sequence-id.ts';
import { toWireError } from '../wire-errors.ts';
import { ActiveRequest, pushEnd } from './active-request.ts';
import { Continuation } from './continuation.ts';
import { EmptyPromptError, PromptTooLongError } from './errors.ts';
import { resolveOptions, type ResolvedOptions } from './generation-options.ts';

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

/** What an accepted submission costs. */
export interface Accepted {
  readonly numPromptTokens: number;
  /** That wait in the engine now: one for each continuation. */
  readonly numSequences: number;
}

/** Whose sequence it is. */
interface ActiveSequence {
  readonly request: ActiveRequest;
  readonly continuation: Continuation;
}

/** The deployment that continues prompts: text in, text out, over the engine's token ids. */
export class TextGenerator {
  readonly #model: LoadedModel;
  readonly #engine: Engine;
  readonly #listener: TextGeneratorListener;
  readonly #requests = new Map<RequestId, ActiveRequest>();
  /** Of these, by their name in the engine. */
  readonly #sequences = new Map<RequestId, ActiveSequence>();
  #isDropped = false;

  constructor(model: LoadedModel, policy: BatchingPolicy, listener: TextGeneratorListener) {
    this.#model = model;
    this.#listener = listener;
    this.#engine = new Engine({
      runner: new Gpt2Runner(model.backend),
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
          if (this.#isDropped) return;
          this.#listener.onUpdates(this.#updatesOf(events));
          this.#listener.onEnded(events);
        },
      },
    });
  }

  get gauges(): EngineGauges {
    const { numRunning, numWaiting, kvUsage } = this.#engine;
    return { numRunning, numWaiting, kvCache: kvUsage };
  }

  /**
   * Accepts a request. What becomes of it is told to the listener.
   *
   * @throws EmptyPromptError, PromptTooLongError, InvalidOptionError, UnknownOptionError, BackPressureError.
   */
  submit({ requestId, clientId, prompt, options, elapsedMs, resumption }: Submission): Accepted {
    if (typeof prompt !== 'string') throw InvalidOptionError.of('prompt', 'a string', prompt);
    const resolved = resolveOptions(options, this.#model.modelInfo);
    const promptTokenIds = this.#tokenize(prompt);
    const { echo, maxNewTokens, priority, sampling } = resolved;
    const continuations = this.#createContinuations(requestId, resolved, resumption);
    const numPromptTokens = promptTokenIds.length;
    const request = new ActiveRequest({
      requestId,
      prompt,
      numPromptTokens,
      echo,
      elapsedMs,
      resumption,
      continuations,
    });
    const live = request.liveContinuations;
    if (live.length === 0)
      throw InvalidOptionError.of('resumption', 'of a request that has not ended', 'ended ones alone');
    this.#engine.submitAll(
      live.map((continuation) => ({
        id: continuation.sequenceId,
        clientId,
        promptTokenIds,
        resumedTokenIds: resumption?.choices[continuation.index]?.tokenIds ?? [],
        maxNewTokens,
        priority,
        stopsAfter: (tokenId) => continuation.push(tokenId),
        sampling: { ...sampling, seed: continuation.seed },
      })),
    );
    this.#requests.set(requestId, request);
    for (const continuation of live) this.#sequences.set(continuation.sequenceId, { request, continuation });
    return { numPromptTokens, numSequences: live.length };
  }

  /** Ends a request with RequestCancelledError; does nothing where it has ended already. */
  cancel(requestId: RequestId): void {
    this.#engine.abortAll(this.#requests.get(requestId)?.liveIds ?? []);
  }

  /** Ends a request with this error; does nothing where it has ended already. */
  fail(requestId: RequestId, error: Error): void {
    this.#engine.failAll(this.#requests.get(requestId)?.liveIds ?? [], error);
  }

  /** Lets go of all requests, without a word to anybody; resolves when nothing runs on the model any more. */
  async dropAll(): Promise<void> {
    this.#isDropped = true;
    this.#requests.clear();
    this.#sequences.clear();
    await this.#engine.close();
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

  #createContinuations(
    requestId: RequestId,
    { n, sampling, stop }: ResolvedOptions,
    resumption: Resumption | undefined,
  ): readonly Continuation[] {
    return Array.from({ length: n }, (_, index) => {
      const continuation = new Continuation({
        index,
        sequenceId: sequenceIdOf(requestId, index),
        seed: continuationSeed(sampling.seed, index),
        stream: this.#model.tokenizer.createTextStream(),
        stopStrings: stop,
        hasLogprobs: sampling.numLogprobs !== undefined,
      });
      const resumed = resumption?.choices[index];
      if (resumed) {
        checkVocabulary(resumed.tokenIds, this.#model.modelInfo.vocabSize);
        continuation.resume(resumed);
      }
      return continuation;
    });
  }

  #updatesOf(events: readonly RequestEvent[]): readonly RequestUpdate[] {
    const updates: RequestUpdate[] = [];
    for (const event of events) {
      // None of a request that has ended: its other sequences were ended with it.
      const sequence = this.#sequences.get(event.requestId);
      if (sequence) this.#tell(event, sequence, updates);
    }
    return updates;
  }

  #tell(event: RequestEvent, { request, continuation }: ActiveSequence, updates: RequestUpdate[]): void {
    const { requestId } = request;
    switch (event.type) {
      case 'started':
        updates.push(...request.start(event));
        break;
      case 'token':
        updates.push(request.addToken(continuation, event));
        break;
      case 'finished':
        pushEnd(updates, request.end(continuation, event));
        if (request.liveIds.length > 0) break;
        this.#forget(request);
        updates.push({ type: 'finished', requestId, result: request.toResult() });
        break;
      case 'failed':
        this.#forget(request);
        // One that fails takes the others along: its caller gets the error, and nobody their texts.
        this.#engine.failAll(request.liveIds, event.error);
        updates.push({ type: 'failed', requestId, error: toWireError(event.error) });
        break;
      default:
        event satisfies never;
    }
  }

  #forget(request: ActiveRequest): void {
    this.#requests.delete(request.requestId);
    for (const sequenceId of request.sequenceIds) this.#sequences.delete(sequenceId);
  }
}

function checkVocabulary(tokenIds: readonly number[], vocabSize: number): void {
  const foreign = tokenIds.find((tokenId) => tokenId >= vocabSize);
  if (foreign !== undefined) {
    throw InvalidOptionError.of('resumption.tokenIds', `ids of the model's ${vocabSize} tokens`, foreign);
  }
}
