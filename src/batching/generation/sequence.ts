import type { TokenCounts } from '../sampling/adjust-logits.ts';
import type { PromptTokenLogprobs, TokenLogprobs } from '../sampling/logprobs.ts';
import { HashedTokens } from './hashed-tokens.ts';
import type { KvSlot } from './kv-slots.ts';
import type { PromptScoring } from './model-runner.ts';
import type { HeldRow } from './prefix-cache.ts';
import { PromptLookup } from './prompt-lookup.ts';
import type { EndReason, GenerationRequest } from './request.ts';
import type { ClientId, RequestId } from '../base/ids.ts';

/** Limits that end a sequence. */
export interface SequenceLimits {
  /** Prompt and output together never exceed it. */
  readonly contextLength: number;
  readonly eosTokenIds: ReadonlySet<number>;
}

/** A request inside the engine. */
export class Sequence {
  readonly request: GenerationRequest;
  readonly arrivedAtMs: number;
  /** The prompt and the output, without the end token. */
  readonly tokens: HashedTokens;
  /** The prompt and the tokens that are resumed: they are computed before the next token is sampled. */
  numPrefillTokens: number;
  /** Number of positions that have K/V, in staging or in the slot. */
  numComputedTokens = 0;
  /** The same once all steps in flight have ended. */
  numStartedTokens = 0;
  /** The part of these that was copied from the row of another sequence. */
  numReusedTokens = 0;
  /** Whether its first chunk was computed, before an interruption too. */
  hasBegun = false;
  /** Whether its K/V is in the slot: then it takes part in decode steps. */
  isInSlot = false;
  /** The end token, once it is sampled: it stops the text and is no part of it. */
  endTokenId: number | undefined;
  finishReason: EndReason | undefined;
  /** Set exactly when the finish reason is `error`. */
  error: Error | undefined;
  /** Received -> first scheduled; 0 until then. */
  queueWaitMs = 0;
  /** Received -> first token sampled here; 0 until then. */
  ttftMs = 0;
  /** Between the last two tokens; 0 until there are two. */
  itlMs = 0;
  #lastTokenAtMs = 0;
  #slot: KvSlot | undefined;
  #tokenCounts: Map<number, number> | undefined;
  /** One entry per prompt token computed so far; the first has no logprob. */
  readonly #promptLogprobs: PromptTokenLogprobs[];
  #lookup: PromptLookup | undefined;
  #isScored = false;

  constructor(request: GenerationRequest, arrivedAtMs: number) {
    const { promptTokenIds, resumedTokenIds = [] } = request;
    this.request = request;
    this.arrivedAtMs = arrivedAtMs;
    this.tokens = new HashedTokens([...promptTokenIds, ...resumedTokenIds]);
    this.numPrefillTokens = this.tokens.length;
    this.#promptLogprobs = promptTokenIds.slice(0, 1).map((tokenId) => ({ tokenId, logprob: null, top: [] }));
  }

  get id(): RequestId {
    return this.request.id;
  }

  get clientId(): ClientId {
    return this.request.clientId;
  }

  get turn(): readonly string[] {
    return this.request.turn ?? [];
  }

  get isNext(): boolean {
    return this.request.isNext ?? false;
  }

  get isBackground(): boolean {
    return this.request.isBackground ?? false;
  }

  get priority(): number {
    return this.request.priority ?? 0;
  }

  get slot(): KvSlot {
    if (this.#slot === undefined) throw new Error(`Sequence ${this.id} is waiting: it has no slot yet.`);
    return this.#slot;
  }

  set slot(slot: KvSlot) {
    this.#slot = slot;
  }

  /** Without the end token. */
  get outputTokenIds(): readonly number[] {
    return this.tokens.slice(this.numPromptTokens);
  }

  /** Made when the sequence is first scheduled, then kept up to date. Until then, a request holds only its ids in memory. */
  get tokenCounts(): TokenCounts {
    if (!this.#tokenCounts) {
      this.#tokenCounts = new Map(this.request.promptTokenIds.map((tokenId) => [tokenId, 0]));
      for (const tokenId of this.outputTokenIds) countOutput(tokenId, this.#tokenCounts);
    }
    return this.#tokenCounts;
  }

  get isAtEndToken(): boolean {
    return this.endTokenId !== undefined;
  }

  /** Its row's content once the steps in flight have ended. Two of these read a token that isn't known yet. */
  get leftRow(): HeldRow {
    const { slot, endTokenId, numStartedTokens } = this;
    const hasReadEnd = endTokenId !== undefined && numStartedTokens > this.tokens.length;
    const tokens = hasReadEnd ? new HashedTokens([...this.tokens.slice(0), endTokenId]) : this.tokens;
    const numComputedTokens = Math.min(numStartedTokens, tokens.length);
    return { slot, tokens, numComputedTokens, numStartedTokens };
  }

  get numPromptTokens(): number {
    return this.request.promptTokenIds.length;
  }

  /** Whether it shares no prefill step, because it needs prompt logprobs or no output token. */
  get isPrefilledAlone(): boolean {
    return this.request.promptLogprobs !== undefined || this.request.maxNewTokens === 0;
  }

  /** Tokens whose K/V it may take over. The last one is always computed: the next one is sampled from its logits. */
  get maxReusedTokens(): number {
    return this.isPrefilledAlone ? 0 : this.numPrefillTokens - 1;
  }

  /** Whether its prompt is computed and no token was asked for. */
  get isPromptAll(): boolean {
    return this.request.maxNewTokens === 0 && this.numComputedTokens >= this.numPrefillTokens;
  }

  /** Tokens generated, the resumed ones and the end token included. */
  get numOutputTokens(): number {
    return this.tokens.length - this.numPromptTokens + (this.isAtEndToken ? 1 : 0);
  }

  /** The part of these that was sampled here. */
  get numSampledTokens(): number {
    return this.numOutputTokens - (this.request.resumedTokenIds?.length ?? 0);
  }

  /** Its first chunk is scheduled. */
  start(nowMs: number): void {
    if (!this.hasBegun) this.queueWaitMs = nowMs - this.arrivedAtMs;
  }

  /** Preempted: it gives up its slot and waits. Its K/V is computed again, or copied from the row that it leaves. */
  interrupt(): void {
    this.#slot = undefined;
    this.isInSlot = false;
    this.numComputedTokens = 0;
    this.numStartedTokens = 0;
    this.numReusedTokens = 0;
    this.numPrefillTokens = this.tokens.length;
    this.#tokenCounts = undefined;
    if (!this.#isScored) this.#promptLogprobs.splice(1);
  }

  /** The K/V of its first tokens is copied from another row. */
  reuse(numTokens: number): void {
    this.numReusedTokens = numTokens;
    // The first token has an entry already, and the token after the copied ones has no logits before it.
    const unscored = this.#isScored ? [] : this.request.promptTokenIds.slice(1, numTokens + 1);
    this.#promptLogprobs.push(...unscored.map((tokenId) => ({ tokenId, logprob: null, top: [] })));
    this.numComputedTokens = numTokens;
  }

  /** See `TokenConstraint.forced`. None if the logprobs of each token are wanted, which take a step each. */
  get forcedTokenIds(): readonly number[] {
    const { constraint, sampling } = this.request;
    return (sampling.logprobs === undefined && constraint?.forced?.()) || [];
  }

  /** Tokens that have no K/V yet. A decode step computes one. */
  get numUncomputedTokens(): number {
    return this.tokens.length - this.numComputedTokens;
  }

  /** Guesses its next tokens from its own text. */
  get lookup(): PromptLookup {
    this.#lookup ??= new PromptLookup(this.tokens, this.numPromptTokens);
    return this.#lookup;
  }

  /** The tokens that it feeds into its next step, at most this many. */
  nextTokenIds(budget: number): readonly number[] {
    return this.tokens.slice(this.numComputedTokens, this.numComputedTokens + budget);
  }

  /** The prompt tokens that its next step scores when it feeds in this many tokens; undefined if there are none. */
  scoringOf(numTokens: number): PromptScoring | undefined {
    const { promptTokenIds, promptLogprobs: numLogprobs } = this.request;
    const start = this.numComputedTokens;
    if (numLogprobs === undefined || this.#isScored) return undefined;
    // The last token of the prompt scores none: a chunk of it alone counts only as the first one.
    if (start > 0 && start >= promptTokenIds.length - 1) return undefined;
    return { targetTokenIds: promptTokenIds.slice(start + 1, start + 1 + numTokens), numLogprobs };
  }

  /** Adds the logprobs of a chunk of its prompt. Returns those of the whole prompt, once, when they are complete. */
  score(logprobs: readonly TokenLogprobs[]): readonly PromptTokenLogprobs[] | undefined {
    this.#promptLogprobs.push(...logprobs);
    this.#isScored = this.#promptLogprobs.length === this.numPromptTokens;
    return this.#isScored ? this.#promptLogprobs : undefined;
  }

  /** See `isPromptAll`. */
  endAfterPrompt(nowMs: number): void {
    this.ttftMs = nowMs - this.arrivedAtMs;
    this.finish('length');
  }

  /** Adds a token that no step has sampled. The runner, which counts what it samples, has to begin its counts anew. */
  appendForced(tokenId: number, nowMs: number, limits: SequenceLimits): void {
    this.append(tokenId, nowMs, limits);
    this.#tokenCounts = undefined;
  }

  /** Adds a token that was sampled behind a right guess: the step has computed the K/V of the token before. */
  appendFurther(tokenId: number, nowMs: number, limits: SequenceLimits): void {
    this.numComputedTokens += 1;
    this.numStartedTokens += 1;
    this.append(tokenId, nowMs, limits);
  }

  /** Adds the sampled token, which may be its last. */
  append(tokenId: number, nowMs: number, limits: SequenceLimits): void {
    if (this.numSampledTokens === 0) this.ttftMs = nowMs - this.arrivedAtMs;
    else this.itlMs = nowMs - this.#lastTokenAtMs;
    this.#lastTokenAtMs = nowMs;
    if (this.#isEndToken(tokenId, limits)) {
      this.endTokenId = tokenId;
      this.finish('stop');
      return;
    }
    const isLast = this.isLastToken(limits);
    this.tokens.push(tokenId);
    if (this.#tokenCounts) countOutput(tokenId, this.#tokenCounts);
    if (this.#isStopToken(tokenId)) this.finish('stop');
    else if (isLast) this.finish('length');
  }

  /** Whether the next token ends it, or so many tokens do, whichever they are. */
  isLastToken({ contextLength }: SequenceLimits, numTokens = 1): boolean {
    return this.tokens.length + numTokens >= finalLengthOf(this.request, contextLength);
  }

  /** @param reason An error stands for the reason `error`. */
  finish(reason: Exclude<EndReason, 'error'> | Error): void {
    this.error = reason instanceof Error ? reason : undefined;
    this.finishReason = reason instanceof Error ? 'error' : reason;
  }

  /** Whether the token ends the sequence and is no part of the output. */
  #isEndToken(tokenId: number, { eosTokenIds }: SequenceLimits): boolean {
    const { ignoreEos = false, includeStopStrInOutput = false } = this.request;
    return (
      (!ignoreEos && eosTokenIds.has(tokenId)) || (!includeStopStrInOutput && this.#isStopToken(tokenId))
    );
  }

  #isStopToken(tokenId: number): boolean {
    return this.request.stopTokenIds?.includes(tokenId) ?? false;
  }
}

/** The most K/V entries that a request can have. */
export function finalLengthOf(
  { promptTokenIds, maxNewTokens }: GenerationRequest,
  contextLength: number,
): number {
  return Math.min(contextLength, promptTokenIds.length + maxNewTokens);
}

function countOutput(tokenId: number, counts: Map<number, number>): void {
  counts.set(tokenId, (counts.get(tokenId) ?? 0) + 1);
}
