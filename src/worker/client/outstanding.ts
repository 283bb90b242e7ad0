import type {
  FinishReason,
  PromptTokenLogprobs,
  RequestId,
  RequestUpdate,
  ResumedChoice,
  Resumption,
  ServedModel,
  SubmittedRequest,
  TokenLogprobs,
  TurnSigns,
} from '../protocol/protocol.ts';
import type { Outgoing } from './links/link.ts';

/** Whoever waits for a request. */
export interface Response {
  apply(update: RequestUpdate, error?: Error): void;
}

export interface Submission {
  readonly requestId: RequestId;
  readonly deployment: string;
  readonly input: unknown;
  readonly options: object;
  readonly turn?: TurnSigns;
}

type ChunkUpdate = Extract<RequestUpdate, { type: 'chunk' }>;
type EchoUpdate = Extract<RequestUpdate, { type: 'echo' }>;

/** What has come of one continuation. */
interface ReceivedChoice {
  readonly tokenIds: number[];
  readonly logprobs: TokenLogprobs[];
  promptLogprobs: readonly PromptTokenLogprobs[] | undefined;
  finishReason: FinishReason | undefined;
}

/** A request that is not settled yet, with all that another worker needs to go on with it. */
export class OutstandingRequest {
  readonly response: Response;
  #submission: Submission;
  readonly #submittedAtMs: number;
  /** By index: the worker alone knows how many there will be. */
  #choices: ReceivedChoice[] = [];
  #queueWaitMs: number | undefined;
  #ttftMs: number | undefined;
  #model: ServedModel | undefined;
  #isSent = false;
  #isAccepted = false;

  constructor(submission: Submission, response: Response, submittedAtMs: number) {
    this.#submission = submission;
    this.response = response;
    this.#submittedAtMs = submittedAtMs;
  }

  /** Whether a worker has been asked, which may be lost by now. */
  get isSent(): boolean {
    return this.#isSent;
  }

  /** From the caller's objects, which may have changed when it is sent again. @throws DataCloneError. */
  detach(): void {
    this.#submission = structuredClone(this.#submission);
  }

  get turn(): TurnSigns {
    return this.#submission.turn ?? {};
  }

  /** What to send to the worker that serves now. */
  takeMessage(nowMs: number): Outgoing {
    return { type: 'submit', deployment: this.#submission.deployment, ...this.turn, ...this.#take(nowMs) };
  }

  /** As `takeMessage`, for all requests of one turn; undefined for none. */
  static takeAll(requests: readonly OutstandingRequest[], nowMs: number): Outgoing | undefined {
    const [first] = requests;
    if (requests.length < 2) return first?.takeMessage(nowMs);
    return (
      first && {
        type: 'submit-all',
        deployment: first.#submission.deployment,
        ...first.turn,
        requests: requests.map((request) => request.#take(nowMs)),
      }
    );
  }

  apply(update: RequestUpdate): void {
    if (update.type === 'restarted') this.#forget();
    // What has started was accepted, by whatever worker said so.
    if (update.type === 'accepted' || update.type === 'started') this.#isAccepted = true;
    if (update.type === 'started') {
      this.#queueWaitMs ??= update.queueWaitMs;
      this.#model = update.model;
    }
    if (update.type === 'echo') this.#receiveEcho(update);
    if (update.type === 'chunk') this.#receive(update);
    this.response.apply(update);
  }

  #take(nowMs: number): SubmittedRequest {
    const { requestId, input, options } = this.#submission;
    const elapsedMs = nowMs - this.#submittedAtMs;
    const request: SubmittedRequest = { requestId, input, options, elapsedMs };
    if (!this.#isSent) {
      this.#isSent = true;
      return request;
    }
    const resumption: Resumption = {
      choices: this.#choices.map(resumedChoiceOf),
      ...(this.#model && { model: this.#model }),
      ...(this.#queueWaitMs !== undefined && { queueWaitMs: this.#queueWaitMs }),
      ...(this.#ttftMs !== undefined && { ttftMs: this.#ttftMs }),
      ...(this.#isAccepted && { isAccepted: true }),
    };
    return { ...request, resumption };
  }

  #forget(): void {
    this.#choices = [];
    this.#queueWaitMs = undefined;
    this.#ttftMs = undefined;
    this.#model = undefined;
  }

  #receive({ index, tokenIds, logprobs = [], ttftMs, finishReason }: ChunkUpdate): void {
    const choice = this.#choiceAt(index);
    choice.tokenIds.push(...tokenIds);
    choice.logprobs.push(...logprobs);
    choice.finishReason = finishReason;
    this.#ttftMs ??= ttftMs;
  }

  #receiveEcho({ index, promptLogprobs }: EchoUpdate): void {
    if (promptLogprobs) this.#choiceAt(index).promptLogprobs = promptLogprobs;
  }

  /** Those before it come into being with it: the worker alone knows how many there will be. */
  #choiceAt(index: number): ReceivedChoice {
    for (let next = this.#choices.length; next <= index; next++) {
      this.#choices.push({ tokenIds: [], logprobs: [], promptLogprobs: undefined, finishReason: undefined });
    }
    const choice = this.#choices[index];
    if (!choice) throw new Error(`A request has no continuation ${index}.`);
    return choice;
  }
}

function resumedChoiceOf({
  tokenIds,
  logprobs,
  promptLogprobs,
  finishReason,
}: ReceivedChoice): ResumedChoice {
  return {
    tokenIds: [...tokenIds],
    ...(logprobs.length > 0 && { logprobs: [...logprobs] }),
    ...(promptLogprobs && { promptLogprobs }),
    ...(finishReason && { finishReason }),
  };
}
