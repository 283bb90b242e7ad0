import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import * as v from 'valibot';

import { createFolder, listen } from './test-support.ts';
import type { AskRow } from '../batches/run-rows.ts';
import { BATCH_URLS, checkRows, type CheckedRows } from '../batches/rows.ts';

/** Rows, and servers that answer them, for the tests of batches; production code never imports this file. */

/** A line of a batch's file. */
export function rowLine(customId: string, body: object = {}, url = '/v1/completions'): string {
  return JSON.stringify({ custom_id: customId, method: 'POST', url, body: { prompt: customId, ...body } });
}

export function rowLines(count: number): string {
  return Array.from({ length: count }, (_, index) => `${rowLine(`row-${index}`)}\n`).join('');
}

/** The path of a file with this content; ends with the test. */
export async function createInput(content: string | Buffer): Promise<string> {
  return join(await createFolder({ 'in.jsonl': content }), 'in.jsonl');
}

export async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const list: Item[] = [];
  for await (const item of items) list.push(item);
  return list;
}

export function check(path: string): Promise<CheckedRows> {
  return checkRows(path, BATCH_URLS, new AbortController().signal);
}

/** Answers with the row's prompt and seed, some turns later, so that rows end in another order. */
export const echo: AskRow = async ({ index, body }, { requestId, signal }) => {
  for (let turn = 0; turn < (index * 7) % 5; turn += 1) await setImmediate();
  signal.throwIfAborted();
  const isFailed = body['fail'] === true;
  const usage = { prompt_tokens: 2, completion_tokens: 3 };
  return isFailed
    ? { status: 400, body: { error: { message: 'No.', code: 'REFUSED', type: 'x', param: null } } }
    : { status: 200, body: { id: requestId, choices: [{ text: body['prompt'] }], usage } };
};

const EchoRequest = v.object({ prompt: v.string(), seed: v.number(), model: v.optional(v.string()) });

interface EchoState {
  /** Requests wait for it, once `numFree` prompts have come. */
  hold: Promise<void> | undefined;
  numFree: number;
  readonly prompts: string[];
}

/** A server as vLLM, which answers with the prompt and the seed. */
export async function startEchoServer() {
  const state: EchoState = { hold: undefined, numFree: 0, prompts: [] };
  const { url } = await listen((request, response) => void answer(state, request, response));
  return { url, state };
}

async function answer(state: EchoState, request: IncomingMessage, response: ServerResponse): Promise<void> {
  response.setHeader('content-type', 'application/json');
  if (request.method === 'GET') {
    response.end(JSON.stringify({ data: [{ id: 'echo' }] }));
    return;
  }
  const { prompt, seed, model } = v.parse(EchoRequest, JSON.parse(await text(request)));
  state.prompts.push(prompt);
  if (state.prompts.length > state.numFree) await state.hold;
  if (prompt.length > 1000) {
    const error = { message: 'Too long.', code: 'context_length_exceeded', type: 'x', param: 'prompt' };
    response.writeHead(400).end(JSON.stringify({ error }));
    return;
  }
  const usage = { prompt_tokens: 2, completion_tokens: 3, total_tokens: 5 };
  const choices = [{ text: `${prompt} ${seed}` }];
  response.end(JSON.stringify({ id: 'cmpl-1', object: 'text_completion', model, choices, usage }));
}
