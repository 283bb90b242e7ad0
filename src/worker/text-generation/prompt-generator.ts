import type { TokenConstraint } from '../../batching/generation/request.ts';
import type { TurnOwner } from '../../batching/queue/request-queue.ts';
import type { RequestId } from '../../protocol/ids.ts';
import type { RequestTurn, SubmittedRequest } from '../../protocol/requests.ts';
import type { ResolvedOptions } from '../../protocol/resolve-options.ts';
import type { PromptLimits, WrittenChat } from './prompt-tokens.ts';

/** A request for a text, with its place in the queue. Its input is the prompt. */
export type Submission = SubmittedRequest &
  TurnOwner & { readonly updates?: RequestTurn['updates'] | undefined };

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
