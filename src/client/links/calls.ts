import * as v from 'valibot';
import { CALL_ANSWERS, type CallName } from '../../protocol/call-answers.ts';
import { LoadCancelledError } from '../../protocol/errors/hub.ts';
import { LoadAbandonedError } from '../../protocol/errors/tabs.ts';
import { modelNameOf } from '../../protocol/models.ts';
import type { Outgoing } from './link.ts';
import { checkLevels } from '../../platform/check-levels.ts';
import { cloneRefusal } from '../base/clone-refusal.ts';
import { nameRefusal } from '../base/refusals.ts';

/** The message of a call, without the ID that pairs it with its answer. */
type CallRequest<Message = Outgoing> = Message extends { readonly callId: number }
  ? Omit<Message, 'callId'>
  : never;

type AnswerOf<Name extends CallName> = v.InferOutput<(typeof CALL_ANSWERS)[Name]>;

/** Sends a call and resolves with its answer. */
export type Ask = Calls['ask'];

/** The part of a `Connection` that calls use. */
interface CallConnection {
  readonly isServed: boolean;
  /** The reason why no more answers come. Undefined while they may. */
  readonly end: Error | undefined;
  post(message: Outgoing): void;
}

/** In the declarations of the package, which need no newer library than ES2022's. */
interface CallEnd {
  resolve(answer: unknown): void;
  reject(error: unknown): void;
}

interface PendingCall extends CallEnd {
  readonly request: CallRequest;
  readonly signal: AbortSignal | undefined;
  /** Number of workers that were asked. */
  numWorkers: number;
}

/** Give up on a load after it has killed this many workers. */
const MAX_WORKERS_OF_LOAD = 2;

/** Calls to the worker itself that are not answered yet. If the worker is lost, the next one is asked. */
export class Calls {
  readonly #connection: CallConnection;
  readonly #pending = new Map<number, PendingCall>();
  #lastCallId = 0;

  constructor(connection: CallConnection) {
    this.#connection = connection;
  }

  get size(): number {
    return this.#pending.size;
  }

  /**
   * Rejects if the answer doesn't fit its schema in `CALL_ANSWERS`.
   *
   * @param signal Once aborted, a load isn't asked of the next worker.
   */
  async ask<Request extends CallRequest>(
    request: Request,
    signal?: AbortSignal,
  ): Promise<AnswerOf<Request['type']>> {
    return v.parse(CALL_ANSWERS[request.type], await this.#ask(request, signal));
  }

  /** Removes and returns a call that is answered now; undefined for one that was answered before. */
  take(callId: number): CallEnd | undefined {
    const call = this.#pending.get(callId);
    this.#pending.delete(callId);
    return call;
  }

  refuseAll(error: Error): void {
    for (const callId of this.#pending.keys()) this.take(callId)?.reject(error);
  }

  /** Rejects calls that no further worker should get. */
  dropRefused(): void {
    for (const [callId, call] of this.#pending) {
      const refusal = refusalOf(call);
      if (refusal) this.take(callId)?.reject(refusal);
    }
  }

  /**
   * Sends the pending calls to the current worker, in order. Their IDs are new: one that was sent before the worker welcomed this
   * client has overtaken those before it, so its first answer isn't the last word.
   */
  askAgain(): void {
    this.dropRefused();
    const calls = [...this.#pending.values()];
    this.#pending.clear();
    for (const call of calls) this.#send(call);
  }

  #ask(request: CallRequest, signal: AbortSignal | undefined): Promise<unknown> {
    const refusal =
      this.#connection.end ?? ('deployment' in request ? nameRefusal(request.deployment) : undefined);
    if (refusal) return Promise.reject(refusal);
    const resolvers = Promise.withResolvers<unknown>();
    try {
      checkLevels(request);
      this.#send({ ...resolvers, request: structuredClone(request), signal, numWorkers: 0 });
    } catch (error) {
      resolvers.reject(cloneRefusal(error, request));
    }
    return resolvers.promise;
  }

  /** @throws DataCloneError. */
  #send(call: PendingCall): void {
    const callId = ++this.#lastCallId;
    if (this.#connection.isServed) {
      this.#connection.post({ ...call.request, callId });
      call.numWorkers += 1;
    }
    this.#pending.set(callId, call);
  }
}

/** Why the next worker should not get this call. */
function refusalOf({ request, signal, numWorkers }: PendingCall): Error | undefined {
  if (request.type !== 'load-model') return undefined;
  const modelName = modelNameOf(request.source);
  if (signal?.aborted) return LoadCancelledError.of(modelName, 'cancelled');
  return numWorkers < MAX_WORKERS_OF_LOAD ? undefined : LoadAbandonedError.of(modelName, numWorkers);
}
