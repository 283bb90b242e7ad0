import { systemClock } from '../batching/base/clock.ts';
import { RequestCancelledError } from '../batching/base/errors.ts';
import { randomSeed } from '../platform/random-seed.ts';
import { createRequestId, type RequestId } from '../protocol/ids.ts';
import { END_TYPES, type RequestUpdate, type TurnInfo } from '../protocol/requests.ts';
import { TEXT_GENERATOR, type GenerationOptions } from '../protocol/generation.ts';
import { toWireError } from '../protocol/wire-errors.ts';
import type { BaseResponse } from './responses.ts';
import type { Connection } from './connection.ts';
import type { RequestOptions } from './handles.ts';
import { ResumableRequest, type MadeRequest } from './resumable-request.ts';
import { cloneRefusal } from './base/clone-refusal.ts';
import { inputsRefusal, nameRefusal, optionsRefusal } from './base/refusals.ts';
import type { ClientUpdate, Topics } from './topics.ts';

type PendingResponse = Pick<BaseResponse<unknown>, 'requestId' | 'apply' | 'follow'>;
type ResponseConstructor<Made> = new (...args: ConstructorParameters<typeof BaseResponse>) => Made;

/** Requests that are not settled yet, in order of submission. */
export class OutstandingRequests {
  readonly #connection: Connection;
  readonly #topics: Topics;
  readonly #requests = new Map<RequestId, ResumableRequest>();

  constructor(connection: Connection, topics: Topics) {
    this.#connection = connection;
    this.#topics = topics;
  }

  get size(): number {
    return this.#requests.size;
  }

  createHandle<Made extends PendingResponse>(
    ResponseClass: ResponseConstructor<Made>,
    deployment: string,
    turnInfo: TurnInfo = {},
  ) {
    return {
      remote: (input: unknown, options?: RequestOptions): Made => {
        const response = this.#submit(ResponseClass, { deployment, input, turn: turnInfo }, options);
        this.#begin([response]);
        return response;
      },
      remoteAll: (inputs: readonly unknown[], options?: RequestOptions): readonly Made[] => {
        const turn = { ...turnInfo, turnId: createRequestId() };
        const refusal = inputsRefusal(inputs);
        // An empty place is an input too.
        const listed: readonly unknown[] = Array.isArray(inputs) ? Array.from(inputs) : [inputs];
        const responses = listed.map((input, place) =>
          this.#submit(ResponseClass, { deployment, input, turn, place }, options, refusal),
        );
        this.#begin(responses);
        return responses;
      },
    };
  }

  cancel(requestId: RequestId, reason?: unknown): void {
    if (!this.#requests.has(requestId)) return;
    this.#connection.post({ type: 'cancel', requestId });
    this.#settle(requestId, RequestCancelledError.because(reason));
  }

  /** Drops updates of settled requests. */
  apply(updates: readonly RequestUpdate[]): void {
    const known = updates.filter(({ requestId }) => this.#requests.has(requestId));
    for (const update of known) {
      this.#requests.get(update.requestId)?.apply(update);
      if (END_TYPES.has(update.type)) this.#requests.delete(update.requestId);
    }
    if (known.length > 0) this.#topics.publish('requests', known);
  }

  /**
   * Sends all requests to the current worker, with the progress that the previous one has made. Returns the updates to publish.
   */
  resubmitAll(): readonly ClientUpdate[] {
    const resubmitted = [...this.#requests]
      .filter(([, { isSent }]) => isSent)
      .map(([requestId]) => ({ type: 'resubmitted', requestId }) as const);
    const turns = Map.groupBy(this.#requests, ([requestId, { turn }]) => turn.turnId ?? requestId);
    for (const requests of turns.values()) this.#send(requests.map(([, request]) => request));
    return resubmitted;
  }

  settleAll(error: Error): void {
    for (const requestId of this.#requests.keys()) this.#settle(requestId, error);
  }

  /**
   * Makes a request that `#begin` sends, unless it is settled already.
   *
   * @param ofInputs Why all inputs of a `remoteAll` are refused.
   */
  #submit<Made extends PendingResponse>(
    ResponseClass: ResponseConstructor<Made>,
    asked: Omit<MadeRequest, 'requestId' | 'options'>,
    given: RequestOptions | null | undefined,
    ofInputs?: Error,
  ): Made {
    const { deployment, input } = asked;
    let refusal = this.#connection.end ?? nameRefusal(deployment) ?? ofInputs;
    let copy: RequestOptions = {};
    try {
      refusal ??= optionsRefusal(given);
      copy = { ...given };
    } catch (error) {
      refusal ??= cloneRefusal(error, { options: given });
    }
    const { signal, ...options } = copy;
    const requestId = createRequestId();
    const response = new ResponseClass(requestId, (reason) => this.cancel(requestId, reason));
    // The client chooses the seed: every worker that continues the request draws the same tokens.
    const seeded = deployment === TEXT_GENERATOR ? withSeed(options) : options;
    const made = { ...asked, requestId, options: seeded };
    this.#requests.set(requestId, new ResumableRequest(made, response, systemClock.now()));
    this.#topics.publish('requests', [{ type: 'submitted', requestId, deployment, input }]);
    if (refusal) this.#settle(requestId, refusal);
    else if (signal?.aborted) this.#settle(requestId, RequestCancelledError.because(signal.reason));
    else if (signal) response.follow(signal);
    return response;
  }

  /** Sends requests. Without a worker, they wait for the next one. */
  #begin(responses: readonly PendingResponse[]): void {
    const requests = responses.flatMap(({ requestId }) => this.#requests.get(requestId) ?? []);
    const [refusal] = requests.flatMap((request) => request.detach() ?? []);
    if (refusal) for (const { requestId } of responses) this.#settle(requestId, refusal);
    else if (this.#connection.isServed) this.#send(requests);
  }

  /** Sends the requests of one turn. */
  #send(requests: readonly ResumableRequest[]): void {
    const message = ResumableRequest.takeAll(requests, systemClock.now());
    if (message) this.#connection.post(message);
  }

  /** Ends the request at once. A result that is already in flight is dropped. */
  #settle(requestId: RequestId, error: Error): void {
    const update: RequestUpdate = { type: 'failed', requestId, error: toWireError(error) };
    this.#requests.get(requestId)?.response.apply(update, error);
    this.#requests.delete(requestId);
    this.#topics.publish('requests', [update]);
  }
}

function withSeed(options: GenerationOptions): GenerationOptions {
  return { ...options, seed: options.seed ?? randomSeed() };
}
