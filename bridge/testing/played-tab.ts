import { vi } from 'vitest';

import { clientId } from '../../src/batching/generation/test-support.ts';
import type { AnswerPart } from '../../src/client/index.ts';
import { TabserveClient } from '../../src/client/client.ts';
import type { LinkListener, Outgoing } from '../../src/client/links/link.ts';
import type { GenerationResult } from '../../src/protocol/generation.ts';
import type { RequestId } from '../../src/protocol/ids.ts';
import type { ServedModel } from '../../src/protocol/models.ts';
import type { RequestUpdate } from '../../src/protocol/requests.ts';
import { PROTOCOL_VERSION, type Unsigned } from '../../src/protocol/wire.ts';
import type { WorkerMessage } from '../../src/protocol/worker-messages.ts';
import {
  createModelInfo,
  createServedModel,
  createWorkerStatus,
  workerId,
} from '../../src/worker/test-support.ts';
import { Exchange } from '../http/exchange.ts';
import type { Route } from '../http/router.ts';
import { listen } from './test-support.ts';

/** A route whose worker is played by the test. Its models `A` and `B` serve one after the other. */
export class PlayedRoute {
  readonly posted: Outgoing[] = [];
  readonly #body: object;
  #listener: LinkListener | undefined;
  #url = '';
  #answerCall: (message: Outgoing) => void = () => {};

  /** @param body Of each request, but for what the test asks itself. */
  constructor(body: object) {
    this.#body = body;
  }

  /** Listens until the test ends. */
  async listen(path: string, routeOf: (serve: TabserveClient) => Route): Promise<void> {
    const serve = new TabserveClient(clientId('bridge'), (given) => {
      this.#listener = given;
      return {
        isolationReason: '',
        post: (message) => {
          this.posted.push(message);
          this.#answerCall(message);
        },
        close: () => undefined,
      };
    });
    this.#listener?.onOpen();
    const route = routeOf(serve);
    const rest = route.path.endsWith('*') ? path.slice(route.path.length - 1) : '';
    const { url } = await listen((request, response) => {
      const exchange = new Exchange(request, response, new URL(path, 'http://localhost'), rest);
      void exchange.run(async (given) => route.methods.POST?.(given));
    });
    this.#url = url;
  }

  say(message: Unsigned<WorkerMessage>): void {
    this.#listener?.onMessage({ version: PROTOCOL_VERSION, workerId: workerId('W'), ...message });
  }

  welcome(): void {
    this.say({ type: 'welcome', status: readyWith('A'), activity: [], batches: [] });
  }

  serveModel(id: string): void {
    this.say({ type: 'status', status: readyWith(id) });
  }

  ask(body: object, init: RequestInit = {}): Promise<Response> {
    return fetch(this.#url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ ...this.#body, ...body }),
      ...init,
    });
  }

  get #submissions() {
    return this.posted.flatMap((message) => {
      if (message.type === 'submit-all') return message.requests;
      return message.type === 'submit' ? [message] : [];
    });
  }

  get submittedIds(): readonly RequestId[] {
    return this.#submissions.map(({ requestId }) => requestId);
  }

  /** Waits until this many requests have reached the worker, and returns their ids. */
  async submitted(count: number): Promise<readonly RequestId[]> {
    await vi.waitUntil(() => this.submittedIds.length === count);
    return this.submittedIds;
  }

  /** The only request, when it has reached the worker. */
  async submission() {
    await this.submitted(1);
    const [submission] = this.#submissions;
    if (!submission) throw new Error('Nothing was submitted.');
    return submission;
  }

  update(...updates: readonly RequestUpdate[]): void {
    this.say({ type: 'updates', updates });
  }

  /** The model starts the request. */
  start(requestId: RequestId, given: string | ServedModel = 'A'): void {
    const model = typeof given === 'string' ? createServedModel(given) : given;
    this.update({ type: 'started', requestId, queueWaitMs: 0, model });
  }

  restart(requestId: RequestId): void {
    this.update({ type: 'restarted', requestId, model: createServedModel('B') });
  }

  fail(requestId: RequestId, code: string): void {
    this.update({ type: 'failed', requestId, error: { code, message: code } });
  }

  chunk(requestId: RequestId, text: string): void {
    this.update({ type: 'chunk', requestId, index: 0, text, tokenIds: [7] });
  }

  /** A piece of a chat's answer. */
  part(requestId: RequestId, part: AnswerPart): void {
    this.update({
      type: 'chunk',
      requestId,
      index: 0,
      text: 'x',
      tokenIds: [7],
      numPromptTokens: 9,
      numCachedTokens: 4,
      parts: [part],
    });
  }

  /** The model answers the request, which it has started. */
  finish(
    requestId: RequestId,
    model: string | ServedModel = 'A',
    given: Partial<GenerationResult> = {},
  ): void {
    this.start(requestId, model);
    const choice = {
      text: 'Once!',
      generatedText: '!',
      tokenIds: [7],
      finishReason: 'length',
      seed: 1,
    } as const;
    const result = {
      ...choice,
      choices: [choice],
      usage: { numPromptTokens: 1, numCachedTokens: 0, numOutputTokens: 1 },
      timings: { queueWaitMs: 0, ttftMs: 0, tpotMs: 0, e2eMs: 0 },
      ...given,
    };
    this.update({ type: 'finished', requestId, result });
  }

  /** Answers all calls for the texts of tokens, whose bytes may be a part of a character. */
  knowTokens(bytesOf: (tokenId: number) => Uint8Array): void {
    const decode = (ids: readonly number[]): string => Buffer.concat(ids.map(bytesOf)).toString();
    this.#answerCall = (message) => {
      if (message.type !== 'token-texts' && message.type !== 'detokenize') return;
      const { callId, tokenIds } = message;
      const result =
        message.type === 'token-texts'
          ? tokenIds.map((tokenId) => decode([tokenId]))
          : { modelId: 'A', text: decode(tokenIds) };
      queueMicrotask(() => this.say({ type: 'call-answered', callId, result }));
    };
  }

  /** Answers the call for the texts of tokens. */
  async answerTexts(textOf: (tokenId: number) => string): Promise<void> {
    const call = await vi.waitUntil(() => {
      const last = this.posted.at(-1);
      return last?.type === 'token-texts' && last;
    });
    this.say({ type: 'call-answered', callId: call.callId, result: call.tokenIds.map(textOf) });
  }
}

function readyWith(id: string) {
  return createWorkerStatus({
    state: 'ready',
    model: createModelInfo({ id }),
    backend: { name: 'wasm', precision: 'fp32', adapter: '', fallbackReason: '' },
  });
}

/** The chunks of a stream. */
export async function eventsOf(answer: Promise<Response>): Promise<unknown[]> {
  const text = await (await answer).text();
  return [...text.matchAll(/^data: (\{.*)$/gm)].map(([, data]): unknown => JSON.parse(data ?? ''));
}
