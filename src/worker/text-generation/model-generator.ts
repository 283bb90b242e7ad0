import { systemClock } from '../../batching/base/clock.ts';
import { InvalidOptionError } from '../../batching/base/errors.ts';
import { Engine } from '../../batching/generation/engine.ts';
import type { FailedEvent, RequestEvent, StepEvent } from '../../batching/generation/events.ts';
import type { BatchingPolicy } from '../../batching/generation/policy.ts';
import type { GenerationRequest, TokenConstraint } from '../../batching/generation/request.ts';
import type { EngineGauges } from '../../batching/metrics/generation-metrics.ts';
import { continuationSeed } from '../../batching/sampling/random.ts';
import type { LoadedModel } from '../runtime/loaded-model.ts';
import type { RequestId } from '../../protocol/ids.ts';
import type { RequestUpdate } from '../../protocol/requests.ts';
import { isRecord } from '../../platform/is-record.ts';
import { importPart } from '../base/import-part.ts';
import type { ServedModel } from '../../protocol/models.ts';
import { BackendRunner } from '../runtime/runner.ts';
import { ActiveRequest } from './active-request.ts';
import { callId } from './answers/call-id.ts';
import { answerFormatOf, inAskedOptions } from './answers/answer-format.ts';
import { AnswerParser } from './answers/answer-parser.ts';
import { tokensOf, type AnswerSyntax } from './answers/answer-syntax.ts';
import { Choice, constraintOf } from './choice.ts';
import { ChoiceScores } from './choice-scores.ts';
import { isChat } from '../../protocol/chat.ts';
import { resolveOptions, type ResolvedOptions } from '../../protocol/resolve-options.ts';
import { ModelGuard, type ModelGuardOptions } from './model-guard.ts';
import type { Accepted, AskedOptions, PreparedShape, Shapes, Submission } from './submissions.ts';
import { checkLength, checkVocabulary, readPrompt, writeChat } from './prompt-tokens.ts';
import { namingInput } from '../../protocol/wire-errors.ts';
import { canContinue, toServedModel } from '../../protocol/served-model.ts';
import { parseSequenceId, sequenceIdOf } from '../../protocol/sequence-id.ts';

export interface ModelGeneratorOptions extends ModelGuardOptions {
  /** All updates of one step, or of one cancellation. */
  readonly onUpdates: (updates: readonly RequestUpdate[]) => void;
  readonly onStep: (event: StepEvent) => void;
  readonly onEnded: (events: readonly FailedEvent[]) => void;
  readonly onMemoryGivenBack?: () => void;
}

/** Pause after this many prompt tokens, since one turn may have many short prompts. */
const TOKENS_PER_PIECE = 1024;

/** Continues prompts on a model in this worker. Adds text to the engine, which only knows token IDs. */
export class ModelGenerator {
  readonly #model: LoadedModel;
  readonly #served: ServedModel;
  readonly #engine: Engine;
  readonly #requests = new Map<RequestId, ActiveRequest>();
  readonly #guard: ModelGuard;
  readonly #whileReading: NonNullable<ModelGuardOptions['whileReading']>;
  #isDropped = false;

  constructor(model: LoadedModel, policy: BatchingPolicy, options: ModelGeneratorOptions) {
    this.#model = model;
    this.#served = toServedModel(model.modelInfo, model.backendInfo);
    this.#guard = new ModelGuard(new BackendRunner(model.backend), model.backend.failure, options);
    this.#whileReading = (requestId, read) =>
      options.whileReading ? options.whileReading(requestId, read) : read();
    this.#engine = new Engine({
      runner: this.#guard,
      clock: systemClock,
      contextLength: model.config.contextLength,
      eosTokenIds: model.config.eosTokenIds,
      policy,
      listener: {
        onStep: (event) => {
          // Report the step before its updates, so that callers can look it up as soon as they have the answer.
          options.onStep(event);
          options.onUpdates(this.#updatesOf(event.requests));
        },
        onEnded: (events) => {
          if (this.#isDropped) return;
          options.onUpdates(this.#updatesOf(events));
          options.onEnded(events);
        },
        onMemoryGivenBack: () => options.onMemoryGivenBack?.(),
        onRuntimeLost: (error) => options.onRuntimeLost(error),
      },
    });
  }

  /** How long the worker may be silent while this runs, in ms. */
  get patienceMs(): number {
    return this.#guard.patienceMs;
  }

  get gauges(): EngineGauges {
    const { numRunning, numWaiting, kvUsage } = this.#engine;
    return { numRunning, numWaiting, kvCache: kvUsage };
  }

  /** Whether a text that a model of another worker has begun is the same if this one goes on with it. */
  canContinue(begun: ServedModel): boolean {
    return canContinue(begun, this.#served);
  }

  /** Prepares the shapes that these submissions ask for; undefined if they ask for none. A rejection refuses all of them. */
  prepare(submissions: readonly Submission[]): Promise<Shapes> | undefined {
    const shaped = submissions.filter(
      ({ options }) =>
        isRecord(options) && (options['responseFormat'] !== undefined || options['tools'] !== undefined),
    );
    return shaped.length > 0 ? this.#prepareShapes(shaped) : undefined;
  }

  /**
   * Reads the submissions of one turn, and yields between pieces of long prompts. Returns a function that accepts all of them or
   * none.
   *
   * @throws EmptyPromptError, PromptTooLongError, InvalidOptionError, UnknownOptionError. Accepting throws BackPressureError,
   *   InvalidOptionError.
   */
  *readAll(
    submissions: readonly Submission[],
    shapes: Shapes = new Map(),
  ): Generator<void, () => readonly Accepted[]> {
    const prepared: ActiveRequest[] = [];
    let numTokens = 0;
    for (const submission of submissions) {
      const next = yield* this.#read(submission, shapes.get(submission.requestId));
      prepared.push(next);
      numTokens += next.numPromptTokens;
      if (numTokens < TOKENS_PER_PIECE) continue;
      numTokens = 0;
      yield;
    }
    const wasAccepted = submissions.every(({ resumption }) => resumption?.isAccepted === true);
    return () => this.#submitAll(prepared, wasAccepted);
  }

  /** Ends a request with RequestCancelledError. Does nothing if it has ended already. */
  cancel(requestId: RequestId): void {
    this.#engine.abortAll(this.#requests.get(requestId)?.liveIds ?? []);
  }

  /** Ends a request with this error. Does nothing if it has ended already. */
  fail(requestId: RequestId, error: Error): void {
    this.#engine.failAll(this.#requests.get(requestId)?.liveIds ?? [], error);
  }

  /** Drops all requests without an update. Resolves when none of them runs any more. */
  async dropAll(): Promise<void> {
    this.#isDropped = true;
    this.#requests.clear();
    await this.#engine.close();
  }

  /** @throws InvalidOptionError, UnknownOptionError; then nothing is changed. */
  configure(knobs: unknown): BatchingPolicy {
    return this.#engine.configure(knobs);
  }

  #submitAll(prepared: readonly ActiveRequest[], wasAccepted: boolean): readonly Accepted[] {
    this.#engine.submitAll(
      prepared.flatMap((request) => request.takeReady()),
      wasAccepted,
    );
    return prepared.map((request) => {
      this.#requests.set(request.requestId, request);
      return { numPromptTokens: request.numPromptTokens, numSequences: request.liveIds.length };
    });
  }

  async #prepareShapes(submissions: readonly Submission[]): Promise<Shapes> {
    const { config, tokenizer } = this.#model;
    const { createShapes } = await importPart(() => import('./shapes/create-shapes.ts'));
    const prepared = submissions.map(async (submission) => {
      const { requestId, input, place: at, resumption } = submission;
      const asked = this.#askedBy(submission);
      const { resolved, limits } = asked;
      const chat = isChat(input) ? namingInput(at, () => writeChat(input, this.#model, limits)) : undefined;
      const isScored = isClassifier(resolved, chat?.syntax);
      // A scored choice follows the tokens of its texts.
      const answer = isScored ? undefined : answerFormatOf(resolved, chat?.syntax);
      if (!answer) return [requestId, { asked, chat, constraints: [], isScored }] as const;
      const priors = Array.from(
        { length: resolved.n },
        (_, index) => resumption?.choices[index]?.tokenIds ?? [],
      );
      const shaped = { config, tokenizer: tokenizer.withTokens(tokensOf(chat?.syntax)) };
      const constraints = await createShapes(answer.format, shaped, priors).catch((error: unknown) => {
        throw inAskedOptions(error, answer);
      });
      return [requestId, { asked, chat, constraints, isScored }] as const;
    });
    return new Map(await Promise.all(prepared));
  }

  /** Checks a request, before the queue takes its sequences. */
  *#read(submission: Submission, shape?: PreparedShape): Generator<void, ActiveRequest> {
    const { requestId, clientId, turn = [], isBackground = false, input, resumption } = submission;
    const { config } = this.#model;
    const { resolved, limits } = shape?.asked ?? this.#askedBy(submission);
    const { echo, maxNewTokens, priority, promptLogprobs, sampling } = resolved;
    // The choice matches stop strings, because the engine only knows token IDs.
    const { stop: _stop, minTokens, ...ending } = resolved.ending;
    const endTokenIds = [...config.eosTokenIds, ...ending.stopTokenIds];
    const { vocabSize } = config;
    const prompt = yield* this.#blamed(submission, readPrompt(input, this.#model, limits, shape?.chat));
    // The probability of each choice takes a sequence of its own.
    const { responseFormat, n } = resolved;
    const scores =
      shape?.isScored && responseFormat?.type === 'choice'
        ? new ChoiceScores(responseFormat.choices, requestId, n, {
            tokenizer: this.#model.tokenizer,
            vocabSize,
          })
        : undefined;
    // Each text is scored whole.
    if (scores)
      checkLength(prompt.tokenIds, this.#model, limits.maxLength + Math.min(1, maxNewTokens) - scores.length);
    const resumedIdsOf = ({ index }: Choice) => resumption?.choices[index]?.tokenIds ?? [];
    const shapeOf = (choice: Choice): TokenConstraint | undefined =>
      scores?.follow({ ...sampling, seed: choice.seed }, resumedIdsOf(choice)) ??
      shape?.constraints[choice.index];
    const request = new ActiveRequest({
      submission,
      model: this.#served,
      prompt,
      echo,
      scoresPrompt: promptLogprobs !== undefined,
      choices: this.#createChoices(submission, resolved, prompt.syntax),
      scores,
    });
    if (request.liveIds.length === 0)
      throw InvalidOptionError.of('resumption', 'of a request that has not ended', 'ended ones alone');
    const shared = { clientId, turn, isBackground, promptTokenIds: prompt.tokenIds, priority };
    const sequences = request.live.map((choice): GenerationRequest => ({
      ...shared,
      id: choice.sequenceId,
      resumedTokenIds: resumedIdsOf(choice),
      maxNewTokens,
      ...ending,
      promptLogprobs: choice.promptLogprobs ? undefined : promptLogprobs,
      constraint: constraintOf(choice, minTokens, { vocabSize, endTokenIds }, shapeOf(choice)),
      sampling: { ...sampling, seed: choice.seed },
    }));
    request.prepare(sequences, shared);
    return request;
  }

  #askedBy({ input, options, resumption }: Submission): AskedOptions {
    const { modelInfo, config } = this.#model;
    // A limit that was lowered after a lost worker accepted the request does not reject it.
    const contextLength = resumption?.isAccepted ? config.contextLength : this.#engine.contextLength;
    const resolved = resolveOptions(options, { ...modelInfo, contextLength }, isChat(input));
    const { maxNewTokens, chatTemplateArguments, continueFinalMessage, tools } = resolved;
    const maxLength = contextLength - Math.min(1, maxNewTokens);
    return { resolved, limits: { maxLength, chatTemplateArguments, continueFinalMessage, tools } };
  }

  /** Reports to the host which request's prompt each piece belongs to. */
  *#blamed<Result>(of: Submission, reading: Generator<void, Result>): Generator<void, Result> {
    for (;;) {
      const piece = this.#whileReading(of.requestId, () => namingInput(of.place, () => reading.next()));
      if (piece.done) return piece.value;
      yield;
    }
  }

  #createChoices(
    { requestId, resumption, updates }: Submission,
    { n, sampling, ending, tools }: ResolvedOptions,
    syntax: AnswerSyntax | undefined,
  ): readonly Choice[] {
    const tokenizer = this.#model.tokenizer.withTokens(tokensOf(syntax));
    return Array.from({ length: n }, (_, index) => {
      const sequenceId = sequenceIdOf(requestId, index);
      const choice = new Choice({
        index,
        sequenceId,
        seed: continuationSeed(sampling.seed, index),
        stream: tokenizer.createTextStream(),
        ending,
        hasLogprobs: sampling.logprobs !== undefined,
        isReadAtEnd: updates === 'end',
        parser:
          syntax && new AnswerParser({ syntax, tools, idOf: (number) => callId(sequenceId, number, syntax) }),
      });
      const resumed = resumption?.choices[index];
      if (resumed) {
        checkVocabulary(resumed.tokenIds, this.#model.modelInfo.vocabSize);
        choice.resume(resumed);
      }
      return choice;
    });
  }

  #updatesOf(events: readonly RequestEvent[]): readonly RequestUpdate[] {
    const updates: RequestUpdate[] = [];
    for (const event of events) {
      const { requestId } = parseSequenceId(event.requestId);
      const request = this.#requests.get(requestId);
      const hasEnded = request?.apply(event, updates);
      const ready = request?.takeReady() ?? [];
      if (ready.length > 0) this.#engine.submitAll(ready, true);
      if (!request || !hasEnded) continue;
      this.#requests.delete(requestId);
      // If one choice fails, the whole request fails.
      if (event.type === 'failed') this.#engine.failAll(request.liveIds, event.error);
    }
    return updates;
  }
}

/** Whether probabilities of choices are asked for, and a choice is the whole answer. A model that may think first does not. */
function isClassifier(
  { responseFormat, sampling, tools }: ResolvedOptions,
  syntax: AnswerSyntax | undefined,
): boolean {
  const isAsked = responseFormat?.type === 'choice' && sampling.logprobs !== undefined;
  return isAsked && tools.length === 0 && syntax?.thinking !== 'begun';
}
