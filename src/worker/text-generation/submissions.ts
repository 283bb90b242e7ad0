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

/** Requests that wait for a model or are being read, in order. */
export class WaitingRoom {
  readonly #submissions = new Map<RequestId, Submission>();

  get size(): number {
    return this.#submissions.size;
  }

  get all(): readonly Submission[] {
    return [...this.#submissions.values()];
  }

  /** Requests of one turn are accepted together or not at all, so they are read together. */
  get turns(): Iterable<readonly Submission[]> {
    return Map.groupBy(this.all, ({ clientId, turn, requestId }) =>
      JSON.stringify([clientId, ...(turn ?? [requestId])]),
    ).values();
  }

  enter(submissions: readonly Submission[]): void {
    for (const submission of submissions) this.#submissions.set(submission.requestId, submission);
  }

  /** False for an equal submission of an earlier reading. */
  has(submission: Submission): boolean {
    return this.#submissions.get(submission.requestId) === submission;
  }

  /** Returns whether the request was here. */
  leave(requestId: RequestId): boolean {
    return this.#submissions.delete(requestId);
  }

  clear(): void {
    this.#submissions.clear();
  }
}
