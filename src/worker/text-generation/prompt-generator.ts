import type { BatchingPolicy } from '../../batching/generation/policy.ts';
import type { TokenConstraint } from '../../batching/generation/request.ts';
import type { TurnOwner } from '../../batching/queue/request-queue.ts';
import type { EngineGauges } from '../../batching/metrics/generation-metrics.ts';
import type { RequestId } from '../../protocol/ids.ts';
import type { SubmittedRequest } from '../../protocol/requests.ts';
import type { ResolvedOptions } from './generation-options.ts';
import type { PromptLimits, WrittenChat } from './prompt-tokens.ts';

/** A request for a text, with its place in the queue. Its input is the prompt. */
export type Submission = SubmittedRequest & TurnOwner;

/** The cost of an accepted submission. */
export interface Accepted {
  readonly numPromptTokens: number;
  /** One for each unfinished choice. */
  readonly numSequences: number;
}

/** A request's options with the model's defaults, and what they allow of its prompt. */
export interface AskedOptions {
  readonly resolved: ResolvedOptions;
  readonly limits: PromptLimits;
}

/** The prepared parts of a request that asks for a shape or tools. */
export interface PreparedShape {
  readonly asked: AskedOptions;
  /** One per choice. They have accepted its resumed tokens. Empty where nothing binds the answer, and where it is scored. */
  readonly constraints: readonly TokenConstraint[];
  /** Whether the answer is one of the texts of a choice, whose probabilities are asked for. */
  readonly isScored: boolean;
  /** Its prompt, if that is a chat. */
  readonly chat: WrittenChat | undefined;
}

export type Shapes = ReadonlyMap<RequestId, PreparedShape>;

/** Continues prompts for the text generator, with a model in this worker or an upstream server. Outcomes are sent as updates. */
export interface PromptGenerator {
  readonly gauges: EngineGauges;
  /** How long the worker may be silent while this runs, in ms. */
  readonly patienceMs: number;
  /**
   * Prepares the shapes that these submissions ask for; undefined if they ask for none. A rejection refuses all of them.
   */
  prepare?(submissions: readonly Submission[]): Promise<Shapes> | undefined;
  /**
   * Reads the submissions of one turn, and yields between pieces of long prompts. Returns a function that accepts all of them or
   * none.
   *
   * @throws EmptyPromptError, PromptTooLongError, InvalidOptionError, UnknownOptionError. Accepting throws BackPressureError,
   *   InvalidOptionError.
   */
  readAll(submissions: readonly Submission[], shapes?: Shapes): Generator<void, () => readonly Accepted[]>;
  /** Ends a request with RequestCancelledError. Does nothing if it has ended already. */
  cancel(requestId: RequestId): void;
  /** Ends a request with this error. Does nothing if it has ended already. */
  fail(requestId: RequestId, error: Error): void;
  /** Drops all requests without an update. Resolves when none of them runs any more. */
  dropAll(): Promise<void>;
  /**
   * Left out by a generator that does not batch by the policy of this worker.
   *
   * @throws InvalidOptionError, UnknownOptionError; then nothing is changed.
   */
  configure?(knobs: unknown): BatchingPolicy;
}
