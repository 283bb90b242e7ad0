import type { BatchingPolicy } from '../../../batching/generation/policy.ts';
import type { RequestId } from '../../../protocol/ids.ts';
import type { BatchKnobs } from '../../../protocol/status.ts';
import type { Submission } from '../../text-generation/prompt-generator.ts';

/** A deployment as the router and the knobs see it: the text generator, or one whose requests are batched. */
export interface ServedDeployment<Knobs extends BatchingPolicy | BatchKnobs = BatchingPolicy | BatchKnobs> {
  /** The knobs in force. */
  readonly knobs: Knobs;
  /** Accepts all submissions of one turn or none. Never throws: any outcome is sent as updates. */
  submitAll(submissions: readonly Submission[]): void;
  /** Does nothing for a request of another deployment, or one that has ended. */
  cancel(requestId: RequestId): void;
  /** @throws InvalidOptionError, UnknownOptionError; then no knob has changed. */
  configure(knobs: unknown): Knobs;
  /** These knobs with some changed, without taking effect. @throws InvalidOptionError, UnknownOptionError. */
  changed(own: Knobs, knobs: unknown): Knobs;
}
