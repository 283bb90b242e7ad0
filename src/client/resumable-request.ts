import { checkLevels } from '../platform/check-levels.ts';
import type { FinishReason, PromptTokenLogprobs, TokenLogprobs } from '../protocol/generation.ts';
import type { RequestUpdate, Resumption, SubmittedRequest, TurnInfo } from '../protocol/requests.ts';
import { ofInput } from '../protocol/wire-errors.ts';
import { cloneRefusal } from './base/clone-refusal.ts';
import type { Outgoing } from './links/link.ts';

/** The response object that the caller holds. */
export interface UpdateTarget {
  /** @param error The original of an error that this client made. */
  apply(update: RequestUpdate, error?: Error): void;
}

/** A request as its caller made it. */
export interface MadeRequest extends Omit<SubmittedRequest, 'elapsedMs' | 'resumption' | 'place'> {
  readonly deployment: string;
  /** Among the inputs of one `remoteAll`. */
  readonly place?: number | undefined;
  readonly turn?: TurnInfo;
}

/** The part of one continuation that has been received. */
interface ReceivedChoice {
  readonly tokenIds: number[];
  readonly logprobs: TokenLogprobs[];
  promptLogprobs?: readonly PromptTokenLogprobs[];
  finishReason?: FinishReason;
}

/** A request that is not settled yet, with everything that another worker needs to continue it. */
export class ResumableRequest {
  readonly response: UpdateTarget;
  #made: MadeRequest;
  readonly #submittedAtMs: number;
  #choices: ReceivedChoice[] = [];
  #progress: Omit<Resumption, 'choices'> = {};
  #isSent = false;

  constructor(made: MadeRequest, response: UpdateTarget, submittedAtMs: number) {
    this.#made = made;
    this.response = response;
    this.#submittedAtMs = submittedAtMs;
  }

  /** Whether the request was sent to a worker, which may be lost by now. */
  get isSent(): boolean {
    return this.#isSent;
  }

  /** Copies the caller's objects, which may change before the request is sent again. Returns why it can't. */
  detach(): Error | undefined {
    try {
      checkLevels(this.#made);
      this.#made = structuredClone(this.#made);
      return undefined;
    } catch (error) {
      const { input, options } = this.#made;
      return ofInput(cloneRefusal(error, { input, options }), this.#made.place);
    }
  }

  get turn(): TurnInfo {
    return this.#made.turn ?? {};
  }

  /** The message for the current worker. */
  takeMessage(nowMs: number): Outgoing {
    return { type: 'submit', deployment: this.#made.deployment, ...this.turn, ...this.#take(nowMs) };
  }

  /** One message for all requests of a turn; undefined for none. */
  static takeAll(requests: readonly ResumableRequest[], nowMs: number): Outgoing | undefined {
    const [first] = requests;
    if (!first || requests.length < 2) return first?.takeMessage(nowMs);
    return {
      type: 'submit-all',
      deployment: first.#made.deployment,
      ...first.turn,
      requests: requests.map((request) => request.#take(nowMs)),
    };
  }

  apply(update: RequestUpdate): void {
    switch (update.type) {
      case 'accepted':
        this.#progress = { ...this.#progress, isAccepted: true };
        break;
      case 'started': {
        const { queueWaitMs, model } = update;
        this.#progress = { queueWaitMs, ...this.#progress, model, isAccepted: true };
        break;
      }
      case 'restarted':
        this.#choices = [];
        this.#progress = this.#progress.isAccepted ? { isAccepted: true } : {};
        break;
      case 'echo':
        if (update.promptLogprobs) this.#choiceAt(update.index).promptLogprobs = update.promptLogprobs;
        break;
      case 'chunk':
        this.#receive(update);
        break;
      case 'finished':
      case 'answered':
      case 'failed':
        break;
      default:
        update satisfies never;
    }
    this.response.apply(update);
  }

  #take(nowMs: number): SubmittedRequest {
    const { requestId, input, options, place } = this.#made;
    const named = { requestId, input, options, ...(place !== undefined && { place }) };
    const request = { ...named, elapsedMs: nowMs - this.#submittedAtMs };
    if (this.#isSent)
      return { ...request, resumption: { ...this.#progress, choices: this.#choices.map(copyOf) } };
    this.#isSent = true;
    return request;
  }

  #receive({
    index,
    tokenIds,
    logprobs = [],
    ttftMs,
    finishReason,
  }: Extract<RequestUpdate, { type: 'chunk' }>): void {
    const choice = this.#choiceAt(index);
    choice.tokenIds.push(...tokenIds);
    choice.logprobs.push(...logprobs);
    if (finishReason) choice.finishReason = finishReason;
    if (ttftMs !== undefined) this.#progress = { ttftMs, ...this.#progress };
  }

  /** Also creates all choices before it: only the worker knows how many there will be. */
  #choiceAt(index: number): ReceivedChoice {
    while (this.#choices.length <= index) this.#choices.push({ tokenIds: [], logprobs: [] });
    const choice = this.#choices[index];
    if (!choice) throw new Error(`A request has no continuation ${index}.`);
    return choice;
  }
}

function copyOf({ tokenIds, logprobs, ...choice }: ReceivedChoice): Resumption['choices'][number] {
  return { ...choice, tokenIds: [...tokenIds], ...(logprobs.length > 0 && { logprobs: [...logprobs] }) };
}
