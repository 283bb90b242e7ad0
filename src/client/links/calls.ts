import * as v from 'valibot';
import { CALL_ANSWERS, type CallName } from '../../protocol/call-answers.ts';
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
  /** Its key among those that are pending. Each worker gets it under another one. */
  callId: number;
  /** Number of workers that were asked, but for those that their tab has ended. */
  numWorkers: number;
  /** As `leftWorker` said when the last one was asked. */
  left: string | undefined;
}

/** Give up on a load after it has killed this many workers. */
const MAX_WORKERS_OF_LOAD = 2;

/** Calls to the worker itself that are not answered yet. If the worker is lost, the next one is asked. */
export class Calls {
  readonly #connection: CallConnection;
  readonly #leftWorker: () => string | undefined;
  readonly #pending = new Map<number, PendingCall>();
  #lastCallId = 0;

  /** @param leftWorker Names the last worker that its tab has ended by itself: no call has killed that one. */
  constructor(connection: CallConnection, leftWorker: () => string | undefined) {
    this.#connection = connection;
    this.#leftWorker = leftWorker;
  }

  get size(): number {
    return this.#pending.size;
  }

  /**
   * Rejects if the answer doesn't fit its schema in `CALL_ANSWERS`.
   *
   * @param signal Of a load: when it aborts, the caller leaves it to others that wait, and gets the signal's reason at once.
   */
  async ask<Request extends CallRequest>(
    request: Request,
    signal?: AbortSignal,
  ): Promise<AnswerOf<Request['type']>> {
    const { promise, ...end } = Promise.withResolvers<unknown>();
    const call = this.#open(request, end);
    const leave = (): void => this.#leave(call, signal?.reason);
    signal?.addEventListener('abort', leave);
    try {
      return v.parse(CALL_ANSWERS[request.type], await promise);
    } finally {
      signal?.removeEventListener('abort', leave);
    }
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

  /**
   * Sends the pending calls to the current worker, in order. Their IDs are new: one that was sent before the worker welcomed this
   * client has overtaken those before it, so its first answer isn't the last word.
   */
  askAgain(): void {
    const calls = [...this.#pending.values()];
    this.#pending.clear();
    const left = this.#leftWorker();
    for (const call of calls) {
      if (call.numWorkers > 0 && call.left !== left) call.numWorkers -= 1;
      const refusal = refusalOf(call);
      if (refusal) call.reject(refusal);
      else this.#send(call);
    }
  }

  /** Undefined for a call that is refused. */
  #open(request: CallRequest, end: CallEnd): PendingCall | undefined {
    const refusal =
      this.#connection.end ?? ('deployment' in request ? nameRefusal(request.deployment) : undefined);
    try {
      if (refusal) throw refusal;
      checkLevels(request);
      const call: PendingCall = {
        ...end,
        request: structuredClone(request),
        callId: 0,
        numWorkers: 0,
        left: undefined,
      };
      this.#send(call);
      return call;
    } catch (error) {
      end.reject(refusal ?? cloneRefusal(error, request));
      return undefined;
    }
  }

  /** @throws DataCloneError. */
  #send(call: PendingCall): void {
    call.callId = ++this.#lastCallId;
    if (this.#connection.isServed) {
      this.#connection.post({ ...call.request, callId: call.callId });
      call.numWorkers += 1;
      call.left = this.#leftWorker();
    }
    this.#pending.set(call.callId, call);
  }

  #leave(call: PendingCall | undefined, reason: unknown): void {
    if (!call || !this.#pending.delete(call.callId)) return;
    this.#connection.post({ type: 'leave-load', loadId: call.callId });
    call.reject(reason);
  }
}

/** Why the next worker should not get this call. */
function refusalOf({ request, numWorkers }: PendingCall): Error | undefined {
  if (request.type !== 'load-model' || numWorkers < MAX_WORKERS_OF_LOAD) return undefined;
  return LoadAbandonedError.of(modelNameOf(request.source), numWorkers);
}
