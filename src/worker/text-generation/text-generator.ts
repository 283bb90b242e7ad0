import { systemClock } from '../../batching/clock.ts';
import { InvalidOptionError } from '../../batching/errors.ts';
import { Engine } from '../../batching/generation/engine.ts';
import type { FailedEvent, RequestEvent, StepEvent } from '../../batching/generation/events.ts';
import type { BatchingPolicy } from '../../batching/generation/policy.ts';
import { integerIn } from '../../batching/generation/validate.ts';
import { continuationSeed } from '../../batching/sampling/random.ts';
import type { GenerationRequest } from '../../batching/generation/request.ts';
import type { EngineGauges } from '../../batching/metrics/generation-metrics.ts';
import type { LoadedModel } from '../models/load-model.ts';
import type { ClientId, RequestId, RequestUpdate, Resumption } from '../protocol/protocol.ts';
import { BackendRunner } from '../runtime/runner.ts';
import { sequenceIdOf } from './sequence-id.ts';
import { servedModel } from '../protocol/served-model.ts';
import { toWireError } from '../protocol/wire-errors.ts';
import { ActiveRequest, pushEnd } from './active-request.ts';
import { Continuation } from './continuation.ts';
import { EmptyPromptError, PromptTooLongError } from '../protocol/errors/deployments.ts';
import { resolveOptions, type ResolvedOptions } from './generation-options.ts';
import { ModelGuard, type ModelGuardListener } from './model-guard.ts';
import type { PromptGenerator } from './prompt-generator.ts';

export interface TextGeneratorListener extends ModelGuardListener {
  /** All that one step (or one cancellation) brought. */
  onUpdates(updates: readonly RequestUpdate[]): void;
  onStep(event: StepEvent): void;
  onEnded(events: readonly FailedEvent[]): void;
}

export interface Submission {
  readonly requestId: RequestId;
  readonly clientId: ClientId;
  /** See `TurnOwner`. */
  readonly turn?: readonly string[];
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

/** A request that is good, before the queue has taken its sequences. */
interface PreparedRequest {
  readonly request: ActiveRequest;
  readonly sequences: readonly GenerationRequest[];
}

/** Whose sequence it is. */
interface ActiveSequence {
  readonly request: ActiveRequest;
  readonly continuation: Continuation;
}

/** The deployment that continues prompts: text in, text out, over the engine's token ids. */
export class TextGenerator implements PromptGenerator {
  readonly #model: LoadedModel;
  readonly #engine: Engine;
  readonly #listener: TextGeneratorListener;
  readonly #requests = new Map<RequestId, ActiveRequest>();
  /** Of these, by their name in the engine. */
  readonly #sequences = new Map<RequestId, ActiveSequence>();
  readonly #guard: ModelGuard;
  #isDropped = false;

  /** @param maxRows See `ModelGuard`. */
  constructor(model: LoadedModel, policy: BatchingPolicy, listener: TextGeneratorListener, maxRows?: number) {
    this.#model = model;
    this.#listener = listener;
    this.#guard = new ModelGuard(model.backend, systemClock, listener, maxRows);
    this.#engine = new Engine({
      runner: new BackendRunner(model.backend, this.#guard),
      clock: systemClock,
      contextLength: model.config.contextLength,
      eosTokenIds: model.config.eosTokenIds,
      policy,
      listener: {
        onStep: (event) => {
          // First: who has an answer may ask for the step that brought it.
          this.#listener.onStep(event);
          this.#listener.onUpdates(this.#updatesOf(event.requests));
        },
        onEnded: (events) => {
          if (this.#isDropped) return;
          this.#listener.onUpdates(this.#updatesOf(events));
          this.#listener.onEnded(events);
        },
      },
    });
  }

  get patienceMs(): number {
    return this.#guard.patienceMs;
  }

  get gauges(): EngineGauges {
    const { numRunning, numWaiting, kvUsage } = this.#engine;
    return { numRunning, numWaiting, kvCache: kvUsage };
  }

  submitAll(submissions: readonly Submission[]): readonly Accepted[] {
    const prepared = submissions.map((submission) => this.#prepare(submission));
    const wasAccepted = submissions.every(({ resumption }) => resumption?.isAccepted === true);
    this.#engine.submitAll(
      prepared.flatMap(({ sequences }) => sequences),
      wasAccepted,
    );
    return prepared.map(({ request, sequences }) => {
      this.#requests.set(request.requestId, request);
      for (const continuation of request.liveContinuations)
        this.#sequences.set(continuation.sequenceId, { request, continuation });
      return { numPromptTokens: request.numPromptTokens, numSequences: sequences.length };
    });
  }

  cancel(requestId: RequestId): void {
    this.#engine.abortAll(this.#requests.get(requestId)?.liveIds ?? []);
  }

  fail(requestId: RequestId, error: Error): void {
    this.#engine.failAll(this.#requests.get(requestId)?.liveIds ?? [], error);
  }

  async dropAll(): Promise<void> {
    this.#isDropped = true;
    this.#requests.clear();
    this.#sequences.clear();
    await this.#engine.close();
  }

  configure(knobs: unknown): BatchingPolicy {
    return this.#engine.configure(knobs);
  }

  #prepare({
    requestId,
    clientId,
    turn = [],
    prompt,
    options,
    elapsedMs,
    resumption,
  }: Submission): PreparedRequest {
    if (typeof prompt !== 'string' && !Array.isArray(prompt))
      throw InvalidOptionError.of('prompt', 'a string or a list of token ids', prompt);
    const resolved = resolveOptions(options, this.#model.modelInfo);
    const { echo, ending, maxNewTokens, priority, promptLogprobs, sampling } = resolved;
    const promptTokenIds = this.#toTokenIds(
      prompt,
      this.#model.config.contextLength - Math.min(1, maxNewTokens),
    );
    const continuations = this.#createContinuations(requestId, resolved, resumption);
    const request = new ActiveRequest({
      requestId,
      model: servedModel(this.#model.modelInfo, this.#model.backendInfo),
      prompt: typeof prompt === 'string' ? prompt : this.#textOf(promptTokenIds),
      numPromptTokens: promptTokenIds.length,
      echo,
      scoresPrompt: promptLogprobs !== undefined,
      elapsedMs,
      resumption,
      continuations,
    });
    const live = request.liveContinuations;
    if (live.length === 0)
      throw InvalidOptionError.of('resumption', 'of a request that has not ended', 'ended ones alone');
    const sequences = live.map((continuation) => ({
      id: continuation.sequenceId,
      clientId,
      turn,
      promptTokenIds,
      resumedTokenIds: resumption?.choices[continuation.index]?.tokenIds ?? [],
      maxNewTokens,
      minNewTokens: ending.minTokens,
      ignoresEndTokens: ending.ignoreEos,
      stopTokenIds: ending.stopTokenIds,
      keepsStopToken: ending.includeStopStrInOutput,
      numPromptLogprobs: continuation.promptLogprobs ? undefined : promptLogprobs,
      priority,
      stopsAfter: (tokenId: number) => continuation.push(tokenId),
      sampling: { ...sampling, seed: continuation.seed },
    }));
    return { request, sequences };
  }

  /** @param maxLength In tokens. */
  #toTokenIds(prompt: string | readonly unknown[], maxLength: number): number[] {
    return typeof prompt === 'string'
      ? this.#tokenize(prompt, maxLength)
      : this.#checkedPrompt(prompt, maxLength);
  }

  #tokenize(prompt: string, maxLength: number): number[] {
    const { tokenizer, config } = this.#model;
    // Tokenizing holds the worker up, and with it every tab.
    const minTokens = Math.ceil(prompt.length / tokenizer.maxTokenBytes);
    if (minTokens > maxLength) throw PromptTooLongError.atLeast(minTokens, config.contextLength, maxLength);
    const promptTokenIds = tokenizer.encode(prompt);
    this.#checkLength(promptTokenIds, maxLength);
    return promptTokenIds;
  }

  /** The length first: a list that is too long is not looked through. */
  #checkedPrompt(tokenIds: readonly unknown[], maxLength: number): number[] {
    this.#checkLength(tokenIds, maxLength);
    const isTokenId = integerIn({ from: 0, to: this.#model.modelInfo.vocabSize - 1 });
    return tokenIds.map((tokenId, index) => isTokenId(`prompt[${index}]`, tokenId));
  }

  #checkLength({ length }: readonly unknown[], maxLength: number): void {
    const { contextLength } = this.#model.config;
    if (length === 0) throw EmptyPromptError.of();
    if (length > maxLength) throw PromptTooLongError.of(length, contextLength, maxLength);
  }

  #textOf(tokenIds: readonly number[]): string {
    const stream = this.#model.tokenizer.createTextStream();
    return tokenIds.map((tokenId) => stream.push(tokenId)).join('') + stream.end();
  }

  #createContinuations(
    requestId: RequestId,
    { n, sampling, ending }: ResolvedOptions,
    resumption: Resumption | undefined,
  ): readonly Continuation[] {
    return Array.from({ length: n }, (_, index) => {
      const continuation = new Continuation({
        index,
        sequenceId: sequenceIdOf(requestId, index),
        seed: continuationSeed(sampling.seed, index),
        stream: this.#model.tokenizer.createTextStream(),
        ending,
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
      case 'prompt-scored':
        updates.push(request.addPrompt(continuation, event));
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
