import type { RuntimeLostError } from './runtime-lost-error.ts';
import { FakeClock } from '../testing/fake-clock.ts';
import { Engine, type EngineOptions } from './engine.ts';
import type { EngineListener, RequestEvent, StepEvent } from './events.ts';
import type { KvCacheLimits, KvShape } from './kv-memory.ts';
import type { TokenLogprobs } from '../sampling/logprobs.ts';
import type {
  ModelRunner,
  PrefillStep,
  SlotTransfer,
  StartedStep,
  Step,
  StepOutput,
  StepRow,
} from './model-runner.ts';
import type { SamplingParams } from '../options/sampling-options.ts';
import { allowToken, emptyMask, isAllowed, type TokenMask } from '../sampling/token-mask.ts';
import { DEFAULT_POLICY, type BatchingPolicy } from './policy.ts';
import { GREEDY, type GenerationRequest, type Lookahead, type TokenConstraint } from './request.ts';
import type { ClientId, RequestId } from '../base/ids.ts';
import { Scheduler, type SchedulerOptions } from './scheduler.ts';

/** Builders and a scripted device for the tests of this folder; production code never imports this file. */

export const EOS = 0;

export function requestId(name: string): RequestId {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- brands are made at the wire, which tests have not
  return name as RequestId;
}

export function clientId(name: string): ClientId {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see requestId
  return name as ClientId;
}

export interface RequestOverrides {
  readonly client?: string;
  readonly promptLength?: number;
  readonly promptTokenIds?: readonly number[];
  readonly resumedTokenIds?: readonly number[];
  readonly maxNewTokens?: number;
  readonly promptLogprobs?: number;
  readonly ignoreEos?: boolean;
  readonly stopTokenIds?: readonly number[];
  readonly includeStopStrInOutput?: boolean;
  readonly priority?: number;
  readonly isBackground?: boolean;
  readonly constraint?: TokenConstraint;
  readonly sampling?: SamplingParams;
}

export function createRequest(
  name: string,
  {
    client = 'tab',
    promptLength = 3,
    promptTokenIds = Array.from({ length: promptLength }, (_, index) => name.charCodeAt(0) * 100 + index),
    resumedTokenIds = [],
    maxNewTokens = 4,
    priority = 0,
    constraint,
    sampling = GREEDY,
    ...ending
  }: RequestOverrides = {},
): GenerationRequest {
  const id = requestId(name);
  return {
    id,
    clientId: clientId(client),
    promptTokenIds,
    resumedTokenIds,
    maxNewTokens,
    priority,
    ...(constraint && { constraint }),
    sampling,
    ...ending,
  };
}

/** Without prefix caching, so that what is prefilled hangs on each test's own requests alone. */
export function createPolicy(overrides: Partial<BatchingPolicy> = {}): BatchingPolicy {
  return { ...DEFAULT_POLICY, prefixCaching: false, ...overrides };
}

/** A byte per token, in rows that grow by 16. */
export function createKvCacheLimits(overrides: Partial<KvCacheLimits> = {}): KvCacheLimits {
  return {
    bytesPerRow: 0,
    bytesPerToken: 1,
    maxBytes: 1_000_000,
    maxSlotBytes: 1_000_000,
    capacityFor: (length) => 16 * Math.ceil(length / 16),
    ...overrides,
  };
}

export function createScheduler(
  overrides: Partial<BatchingPolicy> = {},
  {
    contextLength = 64,
    maxPrefillRows = 1,
    maxScoredTokens = 1000,
    maxGuessedTokens = 0,
    kvCacheLimits = createKvCacheLimits(),
  }: Partial<SchedulerOptions> = {},
): Scheduler {
  const policy = createPolicy(overrides);
  const eosTokenIds = new Set([EOS]);
  return new Scheduler({
    contextLength,
    eosTokenIds,
    policy,
    maxPrefillRows,
    maxScoredTokens,
    maxGuessedTokens,
    kvCacheLimits,
  });
}

/**
 * `prefill a 0+3 @0 last`, `prefill a 0+3 @0 & b 0+2 @1 last`, `prefill a 32+3 @1 of 0 last`, `prefill a 32+40 @1 of 0 from s0 to s1`,
 * `decode a b`, `decode a+3 b` with three guesses, `decode a c, 2→1`, `decode a c, 0⇒1`: what a step does, in one line.
 */
export function describeStep(step: Step | undefined): string {
  if (!step) return 'nothing';
  const transfers = step.transfers.map(
    ({ kind, from, to }) => `, ${from}${kind === 'move' ? '→' : '⇒'}${to}`,
  );
  if (step.kind === 'prefill') {
    const rows = step.rows.map(
      ({ requestId: id, startPosition, tokenIds, slot }) =>
        `${id} ${startPosition}+${tokenIds.length} @${slot}`,
    );
    const origin = step.reusedSlot === undefined ? '' : ` of ${step.reusedSlot}`;
    const [restored, taken] = [step.restoredSnapshot, step.takenSnapshot];
    const snapshots = `${restored === undefined ? '' : ` from s${restored}`}${taken === undefined ? '' : ` to s${taken}`}`;
    return `prefill ${rows.join(' & ')}${origin}${snapshots}${step.isLastChunk ? ' last' : ''}${transfers.join('')}`;
  }
  const place = step.isBehind ? ', behind' : '';
  return `decode ${step.rows.map(nameWithGuesses).join(' ')}${transfers.join('')}${place}`;
}

function nameWithGuesses({ requestId: id, guessedTokenIds = [] }: StepRow): string {
  return guessedTokenIds.length > 0 ? `${id}+${guessedTokenIds.length}` : id;
}

/** A token that hangs on the whole sequence before it; the end token once in 16. */
export function nextToken(history: readonly number[]): number {
  let hash = 0x811c9dc5;
  for (const tokenId of history) hash = Math.imul(hash ^ tokenId, 0x01000193) ^ (hash >>> 13);
  return (hash >>> 8) % 16 === 0 ? EOS : 1 + ((hash >>> 12) % 5000);
}

/** Hangs on the last two tokens alone, but for one place in 16: so texts repeat themselves, and end. */
export function repeatingToken(history: readonly number[]): number {
  return nextToken(history.length % 16 === 0 ? history : history.slice(-2)) % 8;
}

/** Never the end token. */
export function nextTokenWithoutEnd(history: readonly number[]): number {
  return Math.max(1, nextToken(history));
}

/** A mask hides some of these. */
const VOCAB_SIZE = 5001;

/** The first allowed token from this one on. */
function nearestAllowed(tokenId: number, mask: TokenMask | undefined): number {
  if (!mask || isAllowed(mask, tokenId)) return tokenId;
  return nearestAllowed((tokenId + 1) % VOCAB_SIZE, mask);
}

/** Allows every third token, and now and then forces some in a row: which ones hangs on all tokens before. */
export class ScriptedConstraint implements TokenConstraint {
  #state = 1;
  #forced: readonly number[] = [];

  /** @param prior Tokens that were generated before. */
  constructor(prior: readonly number[] = []) {
    for (const tokenId of prior) void this.accept(tokenId);
  }

  accept(tokenId: number): Promise<boolean> {
    return Promise.resolve(this.#add(tokenId));
  }

  #add(tokenId: number): boolean {
    this.#state = (Math.imul(this.#state, 31) + tokenId) >>> 0;
    this.#forced =
      this.#forced.length > 0 || this.#state % 3 > 0
        ? this.#forced.slice(1)
        : Array.from({ length: this.#state % 8 }, (_, index) => 1 + ((this.#state + index) % 5000));
    return this.#forced.length === 0 && tokenId % 11 === 0;
  }

  mask(): TokenMask {
    const mask = emptyMask(VOCAB_SIZE);
    const [forced] = this.#forced;
    if (forced !== undefined) allowToken(mask, forced);
    else for (let id = this.#state % 3; id < VOCAB_SIZE; id += 3) allowToken(mask, id);
    return mask;
  }

  forced(): readonly number[] {
    return this.#forced;
  }

  ahead(): Lookahead {
    const after = (tokenId: number): Lookahead | undefined => {
      const next = new ScriptedConstraint();
      next.#state = this.#state;
      next.#forced = this.#forced;
      return next.#add(tokenId) ? undefined : next.ahead();
    };
    return { mask: this.mask(), forced: this.#forced[0], after };
  }
}

/** The tokens of a request that runs alone: the reference for every batch. */
export async function tokensAlone(
  { promptTokenIds, maxNewTokens }: GenerationRequest,
  contextLength: number,
  constraint?: TokenConstraint,
  next = nextToken,
): Promise<number[]> {
  const history = [...promptTokenIds];
  while (history.length < Math.min(contextLength, promptTokenIds.length + maxNewTokens)) {
    const tokenId = nearestAllowed(next(history), constraint?.mask?.());
    if (tokenId === EOS) break;
    history.push(tokenId);
    if (await constraint?.accept(tokenId)) break;
  }
  return history.slice(promptTokenIds.length);
}

/** Of the rows of a step. */
type Masks = readonly (TokenMask | undefined)[];

export interface ScriptedRunnerOptions {
  readonly isPipelined?: boolean;
  readonly kvCacheLimits?: KvCacheLimits;
  readonly maxPrefillRows?: number;
  readonly maxScoredTokens?: number;
  readonly maxGuessedTokens?: number;
  readonly clock?: FakeClock;
  readonly runMs?: number;
  readonly readbackMs?: number;
  readonly nextToken?: (history: readonly number[]) => number;
  /** Called with each step in the task in which it was scheduled. */
  readonly onStart?: (step: Step) => void;
  /** Called with each step before it has any effect; a throw rejects the run. */
  readonly onRun?: (step: Step) => void;
  readonly promptScores?: (tokenIds: readonly number[]) => StepOutput['promptLogprobs'];
  readonly logprobs?: (tokenIds: readonly number[]) => readonly (TokenLogprobs | undefined)[];
  /** The answer may be spoilt here. */
  readonly answer?: (step: Step, tokenIds: readonly number[]) => readonly (number | Error)[];
}

/** The output of a step that samples these tokens, and takes no time. */
export function outputOf(
  tokenIds: readonly (number | Error)[],
  logprobs: readonly (TokenLogprobs | undefined)[] = [],
): StepOutput {
  const samples = tokenIds.map((tokenId, row) =>
    tokenId instanceof Error ? tokenId : { tokenId, logprobs: logprobs[row] },
  );
  return { samples, runMs: 0, readbackMs: 0 };
}

/**
 * A device whose K/V cache holds the tokens themselves. A step that contradicts the cache is recorded as a violation. Samples
 * depend on what the cache really holds. Fixed state is all tokens that a row has ever read since it was cleared: none is forgotten.
 */
export class ScriptedRunner implements ModelRunner {
  readonly steps: Step[] = [];
  readonly violations: string[] = [];
  readonly #options: ScriptedRunnerOptions;
  #shape: KvShape = { numSlots: 0, numStagingRows: 0, capacity: 0, numSnapshots: 0 };
  #staging: number[][] = [];
  /** By slot. */
  #cache: number[][] = [];
  /** Tokens that the state in each snapshot has read. */
  #snapshots: number[][] = [];
  /** Tokens that the last decode step has left on the device, by row. */
  #sampled: readonly number[] = [];
  #numInFlight = 0;
  #hasFailed = false;
  #previous = Promise.resolve();
  #gate: Promise<void> = Promise.resolve();

  constructor(options: ScriptedRunnerOptions = {}) {
    this.#options = options;
  }

  /** Holds every run back until the returned function is called. */
  hold(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#gate = promise;
    return resolve;
  }

  get isPipelined(): boolean {
    return this.#options.isPipelined ?? false;
  }

  get kvCacheLimits(): KvCacheLimits {
    return this.#options.kvCacheLimits ?? createKvCacheLimits();
  }

  get maxPrefillRows(): number {
    return this.#options.maxPrefillRows ?? 1;
  }

  get maxScoredTokens(): number {
    return this.#options.maxScoredTokens ?? 1000;
  }

  get maxGuessedTokens(): number {
    return this.#options.maxGuessedTokens ?? 0;
  }

  start(step: Step): StartedStep {
    const isBehind = step.kind === 'decode' && step.isBehind;
    this.#check(isBehind || this.#numInFlight === 0, 'a step starts while others are in flight');
    this.#numInFlight += 1;
    this.steps.push(step);
    this.#options.onStart?.(step);
    const output = this.#execute(step, this.#previous);
    const ended = output.then(
      () => undefined,
      () => undefined,
    );
    this.#previous = ended;
    if (!this.isPipelined || step.kind === 'prefill') return { launched: ended, output };
    // Sampling needs the masks.
    return { launched: Promise.resolve(step.masks).then(() => undefined), output };
  }

  get kvShape(): KvShape {
    return this.#shape;
  }

  resizeKvCache(shape: KvShape): void {
    this.#check(this.#numInFlight === 0, 'the cache is resized during a step');
    this.#resize(shape);
  }

  async #execute(step: Step, previous: Promise<void>): Promise<StepOutput> {
    const { clock, runMs = 10, readbackMs = 2, onRun, answer = (_, ids) => ids } = this.#options;
    await previous;
    await this.#gate;
    this.#numInFlight -= 1;
    clock?.advance(runMs + readbackMs);
    const isBehind = step.kind === 'decode' && step.isBehind;
    if (isBehind && this.#hasFailed) throw new Error('the step before has failed');
    this.#hasFailed = true;
    onRun?.(step);
    this.#hasFailed = false;
    this.#resize(step.kvShape);
    const reused = step.kind === 'prefill' ? this.#reusedBy(step) : undefined;
    for (const transfer of step.transfers) this.#transfer(transfer);
    const behind = step.kind === 'decode' ? await step.masks : undefined;
    const masks = behind ?? step.rows.map(({ mask }) => mask);
    const { tokenIds, furtherTokens } =
      step.kind === 'prefill'
        ? { tokenIds: this.#prefill(step, reused, masks), furtherTokens: undefined }
        : this.#decode(step, masks);
    const logprobs = this.#options.logprobs?.(tokenIds);
    const scores = this.#score(step);
    return {
      ...outputOf(answer(step, tokenIds), logprobs),
      ...(furtherTokens && { furtherTokens }),
      ...(scores && { promptLogprobs: scores }),
      runMs,
      readbackMs,
    };
  }

  #reusedBy({ reusedSlot, restoredSnapshot }: PrefillStep): readonly number[] | undefined {
    const row = reusedSlot === undefined ? undefined : this.#cache[reusedSlot];
    if (restoredSnapshot === undefined) return row;
    const state = this.#snapshots[restoredSnapshot] ?? [];
    const hasKv = state.every((tokenId, index) => tokenId === row?.[index]);
    this.#check(hasKv, `slot ${reusedSlot} has no K/V for snapshot ${restoredSnapshot}`);
    return state;
  }

  #prefill(
    { rows, isLastChunk, takenSnapshot }: PrefillStep,
    reused: readonly number[] | undefined,
    masks: Masks,
  ): number[] {
    for (const [index, row] of rows.entries()) {
      if (row.startPosition === 0) this.#staging[index] = [];
      else if (reused) this.#staging[index] = this.#prefixOf(reused, row.startPosition);
      const staging = this.#staging[index] ?? [];
      this.#check(row.startPosition === staging.length, `staging of ${row.requestId} is not its own`);
      this.#check(row.tokenIds.length > 0, `empty chunk for ${row.requestId}`);
      this.#check(
        rows.length === 1 || row.startPosition === 0,
        `${row.requestId} shares a chunk with a past`,
      );
      staging.push(...row.tokenIds);
    }
    const longest = Math.max(...rows.map(({ tokenIds }) => tokenIds.length));
    const isPadded = rows.some(({ tokenIds }) => tokenIds.length < longest);
    this.#check(!isPadded || !this.#hasFixedState, 'padding moves fixed state on');
    this.#checkCapacity(this.#staging.slice(0, rows.length));
    if (takenSnapshot !== undefined) {
      this.#check(rows.length === 1, `${rows.length} rows share a snapshot`);
      this.#check(takenSnapshot < this.#snapshots.length, `snapshot ${takenSnapshot} has no place`);
      this.#snapshots[takenSnapshot] = [...(this.#staging[0] ?? [])];
    }
    if (!isLastChunk) return [];
    for (const [index, { slot }] of rows.entries()) this.#write(slot, [...(this.#staging[index] ?? [])]);
    return this.#staging.slice(0, rows.length).map((staging, index) => this.#next(staging, masks[index]));
  }

  /** A token's logprob stands for its id. */
  #score({ rows }: Step): StepOutput['promptLogprobs'] {
    const [first] = rows;
    if (!first?.scoring) return undefined;
    const { targetTokenIds } = first.scoring;
    this.#check(rows.length === 1, `${rows.length} rows share a step that scores`);
    this.#check(first.tokenIds.length <= this.maxScoredTokens, `${first.tokenIds.length} tokens are scored`);
    return this.#options.promptScores?.(targetTokenIds) ?? targetTokenIds.map(scoreOf);
  }

  #decode({ rows, isBehind }: Extract<Step, { kind: 'decode' }>, masks: Masks) {
    const numGuesses = rows.reduce((sum, { guessedTokenIds = [] }) => sum + guessedTokenIds.length, 0);
    this.#check(numGuesses <= this.maxGuessedTokens, `${numGuesses} tokens are guessed`);
    const samples = rows.map((row, index) => {
      // A freed row holds more than the prefix that its next sequence takes over.
      const history = this.#prefixOf(this.#cache[row.slot] ?? [], row.startPosition);
      const fed = isBehind ? this.#sampled.slice(index, index + 1) : row.tokenIds;
      this.#check(row.slot === index, `row ${index} is in slot ${row.slot}`);
      this.#check(row.startPosition === history.length, `K/V of ${row.requestId} is not in slot ${row.slot}`);
      this.#check(fed.length === 1, `${row.requestId} decodes ${fed.length} tokens`);
      this.#check(!isBehind || row.tokenIds.length === 0, `${row.requestId} knows a token too early`);
      history.push(...fed);
      const { guessedTokenIds = [], guessedMasks = [] } = row;
      // Wrong guesses leave their K/V behind.
      this.#write(row.slot, [...history, ...guessedTokenIds]);
      const sampled = [this.#next(history, masks[index])];
      for (const [place, guess] of guessedTokenIds.entries()) {
        if (sampled.at(-1) !== guess) break;
        history.push(guess);
        sampled.push(this.#next(history, guessedMasks[place]));
      }
      return sampled;
    });
    this.#checkCapacity(this.#cache.slice(0, rows.length));
    const tokenIds = samples.map(([first = 0]) => first);
    this.#sampled = tokenIds;
    const furtherTokens = samples.map(([, ...further]) =>
      further.map((tokenId) => ({ tokenId, logprobs: undefined })),
    );
    return { tokenIds, ...(numGuesses > 0 && { furtherTokens }) };
  }

  #resize(shape: KvShape): void {
    this.#shape = shape;
    const capacity = this.#hasFixedState ? Infinity : shape.capacity;
    this.#cache = resized(this.#cache, shape.numSlots, capacity);
    this.#staging = resized(this.#staging, shape.numStagingRows, capacity);
    this.#snapshots = resized(this.#snapshots, shape.numSnapshots, Infinity);
  }

  get #hasFixedState(): boolean {
    return this.kvCacheLimits.bytesPerRow > 0;
  }

  /** What a row has of its first tokens: with fixed state, always all that it has read. */
  #prefixOf(row: readonly number[], length: number): number[] {
    return this.#hasFixedState ? [...row] : row.slice(0, length);
  }

  #transfer({ kind, from, to }: SlotTransfer): void {
    this.#check(from !== to, `slot ${from} goes to itself`);
    this.#write(to, [...(this.#cache[from] ?? [])]);
    if (kind === 'move') this.#cache[from] = [];
  }

  #write(slot: number, tokenIds: number[]): void {
    this.#check(slot < this.#cache.length, `slot ${slot} of ${this.#cache.length}`);
    this.#cache[slot] = tokenIds;
  }

  /** Rows that no step runs may hold more: fixed state isn't cut when the capacity shrinks. */
  #checkCapacity(rows: readonly (readonly number[])[]): void {
    const longest = Math.max(0, ...rows.map((row) => row.length));
    this.#check(longest <= this.#shape.capacity, `${longest} tokens in rows of ${this.#shape.capacity}`);
  }

  #next(history: readonly number[], mask: TokenMask | undefined): number {
    return nearestAllowed((this.#options.nextToken ?? nextToken)(history), mask);
  }

  #check(holds: boolean, violation: string): void {
    if (!holds) this.violations.push(violation);
  }
}

function resized(rows: readonly number[][], numRows: number, capacity: number): number[][] {
  return Array.from({ length: numRows }, (_, index) => rows[index]?.slice(0, capacity) ?? []);
}

/** `a token 117`, `a finished length`, `a failed CANCELLED`: one line per event. */
function describeEvent(event: RequestEvent): string {
  const { requestId: id, type } = event;
  switch (type) {
    case 'started':
      return `${id} started`;
    case 'prompt-scored':
      return `${id} scored ${event.logprobs.length}`;
    case 'token-scored':
      return `${id} token scored`;
    case 'token':
      return `${id} token`;
    case 'finished':
      return `${id} finished ${event.finishReason}`;
    case 'failed':
      return `${id} failed ${event.error.name}`;
  }
}

function scoreOf(tokenId: number): TokenLogprobs {
  return { tokenId, logprob: -tokenId / 1000, top: [] };
}

/** Everything that a listener hears, as it came and as one list of lines. */
export class RecordingListener implements EngineListener {
  readonly steps: StepEvent[] = [];
  readonly requests: RequestEvent[] = [];
  readonly log: string[] = [];

  onStep(event: StepEvent): void {
    this.steps.push(event);
    this.log.push(`${event.kind} of ${event.batchSize}`);
    this.#record(event.requests);
  }

  onEnded(events: readonly RequestEvent[]): void {
    this.#record(events);
  }

  onMemoryGivenBack(): void {
    this.log.push('memory given back');
  }

  onRuntimeLost({ requestIds }: RuntimeLostError): void {
    this.log.push(`runtime lost under ${requestIds.join()}`);
  }

  of<Type extends RequestEvent['type']>(type: Type): Extract<RequestEvent, { type: Type }>[] {
    return this.requests.filter(
      (event): event is Extract<RequestEvent, { type: Type }> => event.type === type,
    );
  }

  #record(events: readonly RequestEvent[]): void {
    this.requests.push(...events);
    this.log.push(...events.map(describeEvent));
  }
}

export type EngineOverrides = Partial<Omit<EngineOptions, 'policy' | 'clock' | 'runner'>> & {
  readonly policy?: Partial<BatchingPolicy>;
  readonly runner?: Omit<ScriptedRunnerOptions, 'clock'>;
};

/** An engine on fake time and a scripted device, with all that it says. */
export function createEngine({ policy, runner: script, ...overrides }: EngineOverrides = {}) {
  const clock = new FakeClock();
  const runner = new ScriptedRunner({ clock, nextToken: nextTokenWithoutEnd, ...script });
  const listener = new RecordingListener();
  const engine = new Engine({
    runner,
    clock,
    listener,
    contextLength: 64,
    eosTokenIds: [EOS],
    policy: createPolicy(policy),
    ...overrides,
  });
  const submit = (name: string, request?: RequestOverrides): void =>
    engine.submitAll([createRequest(name, request)]);
  const steps = (): string[] => runner.steps.map(describeStep);
  const batchSizes = (): number[] => runner.steps.map((step) => step.rows.length);
  return { engine, runner, clock, listener, submit, steps, batchSizes };
}

/** Lets every promise job run that is due, and those that these bring about. */
export async function settle(numTurns = 500): Promise<void> {
  for (let turn = 0; turn < numTurns; turn += 1) await Promise.resolve();
}
