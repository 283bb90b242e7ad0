import type { IncomingMessage, ServerResponse } from 'node:http';
import { text as readText } from 'node:stream/consumers';

import { listen, type Listening } from './listen.ts';

export interface CompletionCall {
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly authorization: string | undefined;
  /** Tokens of its first choice. */
  numTokensSent: number;
  isAborted: boolean;
}

export interface ServerFault {
  /** The answer is this status, in OpenAI's shape. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** The connection is cut after this many tokens. */
  readonly cutAfter?: number;
  /** An event in the stream says that generating has failed. */
  readonly breaksAfter?: number;
}

export interface OpenAiServer extends Pick<Listening, 'url' | 'close'> {
  /** Since the last `forget`, in order of arrival. */
  readonly calls: readonly CompletionCall[];
  /** Asked for every completion; undefined answers it well. */
  fault: (body: CompletionCall['body']) => ServerFault | undefined;
  /** The tokens of all answers, until the next `forget`; undefined counts. */
  says: readonly string[] | undefined;
  /** Holds all answers after this many tokens, until the returned function is called. */
  hold(numTokens: number): () => void;
  forget(): void;
}

const CHAT_PATH = '/v1/chat/completions';

/** The model that it serves, by the name that vLLM's card gives it. */
export const SERVED_MODEL = 'counting-gpt';

/** vLLM's HTTP behavior around a model that counts: token k of choice i has the id `seed + 100 i + k`, which is also its text. */
export async function startOpenAiServer(): Promise<OpenAiServer> {
  const calls: CompletionCall[] = [];
  let gate: { readonly numTokens: number; readonly opened: Promise<void> } | undefined;
  const state: Pick<OpenAiServer, 'fault' | 'says'> = { fault: () => undefined, says: undefined };

  const complete = async (message: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body: Record<string, unknown> = JSON.parse(await readText(message));
    const { authorization } = message.headers;
    const path = String(message.url);
    const isChat = path === CHAT_PATH;
    const call: CompletionCall = { path, body, authorization, numTokensSent: 0, isAborted: false };
    calls.push(call);
    response.once('close', () => {
      call.isAborted = !response.writableEnded;
    });
    const fault = state.fault(body);
    if (fault?.status !== undefined) {
      sendJson(response, fault.status, { error: { message: `It is ${fault.status}.` } }, fault.headers);
      return;
    }
    response.writeHead(200, { 'Content-Type': 'text/event-stream; charset=utf-8' });
    response.flushHeaders();
    const numTokens = state.says?.length ?? lengthOf(body);
    for (let place = 0; place < numTokens; place += 1) {
      if (place === gate?.numTokens) await gate.opened;
      if (response.destroyed) return;
      if (place === fault?.cutAfter) {
        response.destroy();
        return;
      }
      if (place === fault?.breaksAfter) {
        sendEvent(response, { error: { message: 'The engine is dead.', code: 500 } });
        break;
      }
      for (const choice of choicesAt(place, body, { isChat, says: state.says }))
        sendEvent(response, { choices: [choice] });
      call.numTokensSent += 1;
    }
    const usage = {
      prompt_tokens: 5,
      completion_tokens: call.numTokensSent * Number(body['n']),
      prompt_tokens_details: { cached_tokens: 4 },
    };
    sendEvent(response, { choices: [], usage });
    response.end('data: [DONE]\n\n');
  };

  const { url, close } = await listen((message, response) => {
    if (message.url === '/v1/models') {
      sendJson(response, 200, {
        object: 'list',
        data: [{ id: SERVED_MODEL, object: 'model', owned_by: 'vllm', max_model_len: 1024 }],
      });
    } else if ((message.url === '/v1/completions' || message.url === CHAT_PATH) && message.method === 'POST')
      void complete(message, response);
    else sendJson(response, 404, { error: { message: 'Not Found' } });
  });
  return Object.assign(state, {
    url,
    close,
    calls,
    hold(numTokens: number) {
      const { promise, resolve } = Promise.withResolvers<void>();
      gate = { numTokens, opened: promise };
      return () => {
        gate = undefined;
        resolve();
      };
    },
    forget: () => {
      state.says = undefined;
      calls.splice(0);
    },
  });
}

/** As text and as an id of the first choice. */
export function countedText(seed: number, numTokens: number, index = 0): string {
  return Array.from({ length: numTokens }, (_, place) => ` ${idAt(seed, index, place)}`).join('');
}

function idAt(seed: number, index: number, place: number): number {
  return seed + 100 * index + place;
}

/** Its own length where a chat has no limit. */
function lengthOf({ max_tokens: maxTokens = 6 }: CompletionCall['body']): number {
  return Number(maxTokens);
}

function choicesAt(
  place: number,
  body: CompletionCall['body'],
  { isChat, says }: Pick<OpenAiServer, 'says'> & { readonly isChat: boolean },
): readonly object[] {
  const isLast = place === (says?.length ?? lengthOf(body)) - 1;
  return Array.from({ length: Number(body['n']) }, (_, index) => {
    const id = idAt(Number(body['seed']), index, place);
    const text = says?.[place] ?? ` ${id}`;
    return {
      index,
      ...(isChat ? { delta: { content: text } } : { text }),
      finish_reason: isLast ? 'length' : null,
      ...(body['return_token_ids'] === true && { token_ids: [id] }),
      ...(body['logprobs'] !== undefined && { logprobs: logprobsOf(id) }),
    };
  });
}

/** One more than was asked for, as vLLM does. */
function logprobsOf(id: number): object {
  return {
    tokens: [`token_id:${id}`],
    token_logprobs: [-0.5],
    top_logprobs: [{ [`token_id:${id}`]: -0.5, 'token_id:7': -1.5, 'token_id:8': -2.5 }],
  };
}

function sendEvent(response: ServerResponse, event: object): void {
  response.write(`data: ${JSON.stringify(event)}\n\n`);
}

function sendJson(
  response: ServerResponse,
  status: number,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(body));
}
