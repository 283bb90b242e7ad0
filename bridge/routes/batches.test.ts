import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import OpenAI, { BadRequestError, ConflictError, NotFoundError } from 'openai';
import { describe, expect, it, vi } from 'vitest';

import { rowLine, rowLines, startEchoServer } from '../testing/batch-rows.ts';
import { FILE_CONTENT, FILE_TEXTS } from '../../src/jobs/testing/batch-file.ts';
import type { RequestTurn } from '../../src/protocol/requests.ts';
import {
  createFolder,
  mountBridge,
  startBridge,
  startWorker,
  stubWebSocket,
} from '../testing/test-support.ts';

async function start({ maxUploadBytes, folder }: { maxUploadBytes?: number; folder?: string } = {}) {
  const batchFolder = folder ?? (await createFolder({}));
  const target = await startEchoServer();
  const mounted = await mountBridge({ batchFolder, maxUploadBytes, forwardTo: { url: target.url } });
  const client = new OpenAI({ apiKey: 'none', baseURL: `${mounted.url}/v1`, maxRetries: 0 });
  return { ...mounted, client, target: target.state, batchFolder };
}

type Client = OpenAI;

const upload = (client: Client, content: string) =>
  client.files.create({ file: new File([content], 'in.jsonl'), purpose: 'batch' });

async function begin(client: Client, content: string, rest: object = {}) {
  const { id } = await upload(client, content);
  const endpoint = '/v1/completions';
  return client.batches.create({ input_file_id: id, endpoint, completion_window: '24h', ...rest });
}

const ENDED = ['completed', 'failed', 'cancelled'];

async function ended(client: Client, id: string) {
  return vi.waitUntil(
    async () => {
      const batch = await client.batches.retrieve(id);
      return ENDED.includes(batch.status) && batch;
    },
    { timeout: 20_000 },
  );
}

async function linesOf(client: Client, id = '') {
  const text = await (await client.files.content(id)).text();
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

describe('files', () => {
  it('are uploaded, listed, retrieved, read and deleted', async () => {
    const { client } = await start();
    const content = `${rowLine('é')}\n`;
    const file = await upload(client, content);
    expect(file).toEqual({
      id: expect.stringMatching(/^file-[\da-f]+$/),
      object: 'file',
      bytes: Buffer.byteLength(content),
      created_at: expect.any(Number),
      filename: 'in.jsonl',
      purpose: 'batch',
      status: 'processed',
    });
    const second = await upload(client, 'b');
    expect((await client.files.list()).data.map(({ id }) => id)).toEqual([second.id, file.id]);
    const oldest = await client.files.list({ order: 'asc', limit: 1, purpose: 'batch' });
    expect([oldest.data, oldest.has_more]).toEqual([[file], true]);
    expect(await client.files.retrieve(file.id)).toEqual(file);
    expect(await (await client.files.content(file.id)).text()).toBe(content);
    expect(await client.files.delete(file.id)).toEqual({ id: file.id, object: 'file', deleted: true });
    await expect(client.files.retrieve(file.id)).rejects.toBeInstanceOf(NotFoundError);
  });

  it.each<readonly [string, (form: FormData) => void, number, string, string]>([
    [
      'too large a file',
      (form) => form.append('file', new Blob(['a'.repeat(200_000)]), 'a'),
      413,
      'UPLOAD_TOO_LARGE',
      '--max-upload-mb',
    ],
    [
      'a file that grows too large',
      (form) => form.append('file', new Blob(['a'.repeat(120_000)]), 'a'),
      413,
      'UPLOAD_TOO_LARGE',
      '--max-upload-mb',
    ],
    ['no file', (form) => form.append('x', 'y'), 400, 'INVALID_OPTION', '`file`'],
    [
      'two files',
      (form) => ['file', 'file'].map((name) => form.append(name, new Blob(['a']), 'a')),
      400,
      'INVALID_BODY',
      'a file in `file`',
    ],
    [
      'two purposes',
      (form) => {
        form.append('purpose', 'x');
        form.append('file', new Blob(['a']), 'a');
        form.append('purpose', 'batch');
      },
      400,
      'INVALID_OPTION',
      '`purpose` to be given once',
    ],
    [
      'another field',
      (form) => {
        form.append('file', new Blob(['a']), 'a');
        form.append('color', 'red');
      },
      400,
      'UNKNOWN_OPTION',
      '`color`',
    ],
    [
      'another purpose',
      (form) => {
        form.append('file', new Blob(['a']), 'a');
        form.set('purpose', 'vision');
      },
      400,
      'INVALID_OPTION',
      'to be batch, got `vision`',
    ],
  ])('%s is refused', async (_, fill, status, code, message) => {
    const { url, client, batchFolder } = await start({ maxUploadBytes: 100_000 });
    const form = new FormData();
    form.append('purpose', 'batch');
    fill(form);
    const answer = await fetch(`${url}/v1/files`, { method: 'POST', body: form });
    expect([answer.status, await answer.json()]).toMatchObject([
      status,
      { error: { code, message: expect.stringContaining(message) } },
    ]);
    expect((await client.files.list()).data).toEqual([]);
    expect(await readdir(join(batchFolder, 'files'))).toEqual([]);
  });

  it('what is no form is refused, and half a form, too', async () => {
    const { url, batchFolder } = await start();
    const post = (body: string, type: string) =>
      fetch(`${url}/v1/files`, { method: 'POST', body, headers: { 'Content-Type': type } });
    expect((await post('{}', 'application/json')).status).toBe(415);
    expect(await (await post('a', 'multipart/form-data')).json()).toMatchObject({
      error: {
        code: 'INVALID_BODY',
        message: 'The body cannot be read as multipart/form-data: its Content-Type has no boundary.',
      },
    });
    const half = '--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nhalf';
    const refused = await post(half, 'multipart/form-data; boundary=b');
    expect(await refused.json()).toMatchObject({
      error: {
        code: 'INVALID_BODY',
        message: expect.stringMatching(/: it ends before its last boundary\.$/),
      },
    });
    expect(await readdir(join(batchFolder, 'files'))).toEqual([]);
  });

  it('a client that leaves in the middle of an upload leaves nothing behind', async () => {
    const { url, batchFolder } = await start();
    const leave = new AbortController();
    const head = '--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n';
    const body = new ReadableStream({
      start: (stream) => stream.enqueue(new TextEncoder().encode(head + 'a'.repeat(1e6))),
    });
    const headers = { 'Content-Type': 'multipart/form-data; boundary=b' };
    const given = { method: 'POST', body, headers, duplex: 'half', signal: leave.signal } as const;
    const sent = fetch(`${url}/v1/files`, given);
    const inFolder = () => readdir(join(batchFolder, 'files')).catch(() => []);
    await vi.waitUntil(async () => (await inFolder()).length === 1);
    leave.abort();
    await expect(sent).rejects.toThrow('aborted');
    await vi.waitUntil(async () => (await inFolder()).length === 0);
  });

  it('are not there without a folder', async () => {
    const { url } = await mountBridge();
    expect((await fetch(`${url}/v1/files`, { method: 'POST' })).status).toBe(404);
  });
});

describe('a batch', () => {
  it('has the texts that the page and `run-batch` give', async () => {
    const { client } = await start();
    const { id } = await begin(client, FILE_CONTENT);
    const lines = await linesOf(client, (await ended(client, id)).output_file_id);
    expect(lines.map(({ response }) => response.body.choices[0].text)).toEqual(FILE_TEXTS);
  });

  it('answers its rows in order, those that fail in a file of their own', async () => {
    const { client } = await start();
    const content = `${rowLine('a')}\n${rowLine('long', { prompt: 'a'.repeat(2000) })}\n${rowLine('c', { seed: 7 })}\n`;
    const batch = await begin(client, content, { metadata: { job: 'one', constructor: 'c' } });
    expect(batch).toMatchObject({ object: 'batch', endpoint: '/v1/completions' });
    expect(batch.metadata).toEqual({ job: 'one', constructor: 'c' });
    const done = await ended(client, batch.id);
    expect(done).toMatchObject({
      status: 'completed',
      request_counts: { total: 3, completed: 2, failed: 1 },
      usage: { input_tokens: 4, output_tokens: 6, total_tokens: 10 },
      errors: null,
    });
    expect(await linesOf(client, done.output_file_id)).toMatchObject(
      [
        {
          custom_id: 'a',
          response: { status_code: 200, body: { choices: [{ text: /^a \d+$/ }] } },
          error: null,
        },
        { custom_id: 'c', response: { body: { choices: [{ text: 'c 7' }] } } },
      ].map((line) => ({ ...line, response: expect.anything() })),
    );
    const [, third] = await linesOf(client, done.output_file_id);
    expect(third.response).toMatchObject({ status_code: 200, body: { choices: [{ text: 'c 7' }] } });
    expect(await linesOf(client, done.error_file_id)).toMatchObject([
      {
        custom_id: 'long',
        response: { status_code: 400, body: { error: { param: 'prompt' } } },
        error: { code: 'context_length_exceeded', message: 'Too long.' },
      },
    ]);
    const output = await client.files.retrieve(done.output_file_id ?? '');
    expect(output).toMatchObject({ purpose: 'batch_output', filename: `${batch.id}_output.jsonl` });
  });

  it('fails before it starts if lines are broken, and names them', async () => {
    const { client, target } = await start();
    const { id } = await begin(client, `${rowLine('a')}\n{\n${rowLine('a')}\n`);
    expect(await ended(client, id)).toMatchObject({
      status: 'failed',
      output_file_id: null,
      errors: {
        object: 'list',
        data: [
          {
            code: 'invalid_json_line',
            line: 2,
            param: null,
            message:
              "Couldn't read the line as JSON: expected a name in double quotes or `}` at column 2, got the end.",
          },
          { code: 'duplicate_custom_id', line: 3, param: 'custom_id' },
        ],
      },
    });
    expect(target.prompts).toEqual([]);
  });

  it('goes on after a restart in its middle: every row once, right and in order', async () => {
    const first = await start();
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    Object.assign(first.target, { hold: held, numFree: 40 });
    const { id } = await begin(first.client, rowLines(200));
    await vi.waitUntil(async () => {
      const { request_counts } = await first.client.batches.retrieve(id);
      return (request_counts?.completed ?? 0) > 20;
    });
    await first.bridge.drain(0);
    release();
    const second = await start({ folder: first.batchFolder });
    const done = await ended(second.client, id);
    expect(done.request_counts).toEqual({ total: 200, completed: 200, failed: 0 });
    const lines = await linesOf(second.client, done.output_file_id);
    expect(lines.map(({ custom_id }) => custom_id)).toEqual(
      Array.from({ length: 200 }, (_, index) => `row-${index}`),
    );
    expect(second.target.prompts.length).toBeLessThan(180);
  });

  it('keeps the order of its metadata, after a restart too', async () => {
    const first = await start();
    const { id: input } = await upload(first.client, rowLine('a'));
    const metadata = '"metadata":{"b":"1","10":"2","9":"3"}';
    const created = await fetch(`${first.url}/v1/batches`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: `{"input_file_id":"${input}","endpoint":"/v1/completions","completion_window":"24h",${metadata}}`,
    });
    const text = await created.text();
    expect(text).toContain(metadata);
    const { id } = JSON.parse(text);
    await ended(first.client, id);
    await first.bridge.drain(0);
    const second = await start({ folder: first.batchFolder });
    expect(await (await fetch(`${second.url}/v1/batches/${id}`)).text()).toContain(metadata);
  });

  it('is cancelled with the results that it has', async () => {
    const { client, target } = await start();
    target.hold = Promise.withResolvers<void>().promise;
    const { id } = await begin(client, rowLines(10));
    await vi.waitUntil(() => target.prompts.length > 0);
    const input = (await client.batches.retrieve(id)).input_file_id;
    await expect(client.files.delete(input)).rejects.toBeInstanceOf(ConflictError);
    expect((await client.batches.cancel(id)).status).toMatch(/^cancell/);
    const done = await ended(client, id);
    expect(done).toMatchObject({
      status: 'cancelled',
      request_counts: { total: 10, completed: 0, failed: 0 },
    });
    await expect(client.batches.cancel(id)).rejects.toBeInstanceOf(ConflictError);
    await client.files.delete(input);
  });

  it('is listed page by page, the newest first', async () => {
    const { client } = await start();
    const ids: string[] = [];
    for (let made = 0; made < 5; made += 1) ids.unshift((await begin(client, rowLines(1))).id);
    const listed: string[] = [];
    for await (const { id } of client.batches.list({ limit: 2 })) listed.push(id);
    expect(listed).toEqual(ids);
    for (const id of ids) await ended(client, id);
  });

  it.each<readonly [string, object, string]>([
    ['an endpoint that is not served', { endpoint: '/v1/images/edits' }, 'endpoint'],
    ['another window', { completion_window: '1h' }, 'completion_window'],
    ['metadata of numbers', { metadata: { a: 1 } }, 'metadata[a]'],
  ])('of %s is refused', async (_, rest, param) => {
    const { client } = await start();
    const refused = await begin(client, rowLines(1), rest).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(BadRequestError);
    expect(refused).toMatchObject({ param });
  });

  it('of a file that is not there is refused', async () => {
    const { client } = await start();
    const given = { endpoint: '/v1/completions', completion_window: '24h', input_file_id: 'file-x' } as const;
    await expect(client.batches.create(given)).rejects.toMatchObject({ status: 404, code: 'FILE_NOT_FOUND' });
  });
});

it('a folder that a running process has is refused with its remedy', async () => {
  const folder = await createFolder({ 'server.pid': String(process.ppid) });
  const { url } = await start({ folder });
  const answer = await fetch(`${url}/v1/batches`);
  expect([answer.status, await answer.json()]).toMatchObject([
    503,
    { error: { code: 'BATCHES_IN_USE', message: expect.stringContaining('--batch-folder') } },
  ]);
});

it('rows stand behind the requests of all others', async () => {
  const { bridge, url } = await startBridge();
  stubWebSocket(url);
  const { received, release } = startWorker(url, 'A');
  const inGated = (turn: RequestTurn, input: string) =>
    bridge.serve.getHandle('gated' as string, turn).remote(input);
  const first = inGated({ isBackground: true }, 'row 1').result();
  await vi.waitUntil(() => received.length === 1);
  const others = ['row 2', 'row 3'].map((row) => inGated({ isBackground: true }, row).result());
  const person = inGated({ caller: ['loopback'] }, 'person').result();
  // Its answer comes after all of them have arrived.
  await bridge.serve.metrics();
  release();
  await Promise.all([first, person, ...others]);
  expect(received).toEqual(['row 1', 'person', 'row 2', 'row 3']);
});
