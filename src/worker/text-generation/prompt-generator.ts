import type { BatchingPolicy } from '../../batching/generation/policy.ts';
import type { EngineGauges } from '../../batching/metrics/generation-metrics.ts';
import type { RequestId } from '../protocol/protocol.ts';
import type { Accepted, Submission } from './text-generator.ts';

/** What continues prompts for the text generator: a model in this worker, or a server elsewhere. */
export interface PromptGenerator {
  readonly gauges: EngineGauges;
  /** How long the worker may be silent while this runs, ms. */
  readonly patienceMs: number;
  /**
   * Accepts all of some requests of one turn, or none. What becomes of them is told as updates.
   *
   * @throws EmptyPromptError, PromptTooLongError, InvalidOptionError, UnknownOptionError, BackPressureError.
   */
  submitAll(submissions: readonly Submission[]): readonly Accepted[];
  /** Ends a request with RequestCancelledError; does nothing where it has ended already. */
  cancel(requestId: RequestId): void;
  /** Ends a request with this error; does nothing where it has ended already. */
  fail(requestId: RequestId, error: Error): void;
  /** Lets go of all requests, without a word to anybody; resolves when nothing of them runs any more. */
  dropAll(): Promise<void>;
  /** @throws InvalidOptionError, UnknownOptionError; then nothing is changed. */
  configure(knobs: unknown): BatchingPolicy;
}
