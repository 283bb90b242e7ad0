import type { BatchingPolicy } from '../../batching/generation/policy.ts';
import type { TurnOwner } from '../../batching/queue/request-queue.ts';
import type { EngineGauges } from '../../batching/metrics/generation-metrics.ts';
import type { RequestId } from '../../protocol/ids.ts';
import type { SubmittedRequest } from '../../protocol/requests.ts';

/** A request for a text, with the client whose turn it waits for. Its input is the prompt. */
export type Submission = SubmittedRequest & TurnOwner;

/** What an accepted submission costs. */
export interface Accepted {
  readonly numPromptTokens: number;
  /** One for each choice that is still to be generated. */
  readonly numSequences: number;
}

/** Continues prompts for the text generator: a model in this worker, or a server elsewhere. Outcomes are told as updates. */
export interface PromptGenerator {
  readonly gauges: EngineGauges;
  /** How long the worker may be silent while this runs, ms. */
  readonly patienceMs: number;
  /**
   * Reads the submissions of one turn, and yields between pieces of long prompts. What it returns then accepts all of them,
   * or none.
   *
   * @throws EmptyPromptError, PromptTooLongError, InvalidOptionError, UnknownOptionError. Accepting throws BackPressureError,
   *   InvalidOptionError.
   */
  readAll(submissions: readonly Submission[]): Generator<void, () => readonly Accepted[]>;
  /** Ends a request with RequestCancelledError; does nothing if it has ended already. */
  cancel(requestId: RequestId): void;
  /** Ends a request with this error; does nothing if it has ended already. */
  fail(requestId: RequestId, error: Error): void;
  /** Drops all requests without an update; resolves when nothing of them runs any more. */
  dropAll(): Promise<void>;
  /**
   * Left out by a generator that does not batch by the policy of this worker.
   *
   * @throws InvalidOptionError, UnknownOptionError; then nothing is changed.
   */
  configure?(knobs: unknown): BatchingPolicy;
}
