import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import OpenAI, { APIError } from 'openai';
import { afterEach, describe, expect, it, vi } from 'vitest';

import { rowLines, startEchoServer } from '../testing/batch-rows.ts';
import { createFolder, mountBridge } from '../testing/test-support.ts';

/** Whether every write finds no room. Like a real disk, it leaves a part of the file. */
const disk = vi.hoisted(() => ({ code: '' }));

vi.mock('node:fs/promises', async (importOriginal) => {
  const real = await importOriginal<typeof import('node:fs/promises')>();
  const writeFile: typeof real.writeFile = async (path, content, options) => {
    if (disk.code === '' || typeof path !== 'string') return real.writeFile(path, content, options);
    await real.writeFile(path, '');
    throw Object.assign(new Error(`${disk.code}: no space left on device, write`), { code: disk.code });
  };
  return { ...real, writeFile };
});

afterEach(() => {
  disk.code = '';
});

async function start() {
  const batchFolder = await createFolder({});
  const target = await startEchoServer();
  const { url } = await mountBridge({ batchFolder, forwardTo: { url: target.url } });
  const client = new OpenAI({ apiKey: 'none', baseURL: `${url}/v1`, maxRetries: 0 });
  const upload = () => client.files.create({ file: new File([rowLines(3)], 'in.jsonl'), purpose: 'batch' });
  const create = (input_file_id: string) =>
    client.batches.create({ input_file_id, endpoint: '/v1/completions', completion_window: '24h' });
  const names = async () => [
    ...(await readdir(join(batchFolder, 'files'))),
    ...(await readdir(join(batchFolder, 'batches'))),
  ];
  return { client, upload, create, names, state: target.state };
}

const refusal = (made: Promise<unknown>): Promise<unknown> =>
  made.then(
    () => undefined,
    (error: unknown) => error instanceof APIError && [error.status, error.code, error.type],
  );

const FULL = [507, 'STORAGE_FULL', 'server_error'];

describe.each(['ENOSPC', 'EDQUOT'])('a disk without room (%s)', (code) => {
  it('makes no batch, and holds neither its file nor its place', async () => {
    const { client, upload, create, names } = await start();
    const file = await upload();
    const before = await names();
    disk.code = code;
    for (let attempt = 0; attempt < 5; attempt += 1) expect(await refusal(create(file.id))).toEqual(FULL);
    expect((await client.batches.list()).data).toEqual([]);
    expect(await names()).toEqual(before);
    expect(await client.files.delete(file.id)).toMatchObject({ deleted: true });
    expect(await names()).toEqual([]);
    disk.code = '';
    const { id } = await create((await upload()).id);
    await vi.waitUntil(async () => (await client.batches.retrieve(id)).status === 'completed');
    expect((await client.batches.retrieve(id)).request_counts).toEqual({ total: 3, completed: 3, failed: 0 });
  });

  it('leaves a batch that it cannot cancel as it is', async () => {
    const { client, upload, create, state } = await start();
    const held = Promise.withResolvers<void>();
    state.hold = held.promise;
    const { id } = await create((await upload()).id);
    await vi.waitUntil(() => state.prompts.length > 0);
    disk.code = code;
    expect(await refusal(client.batches.cancel(id))).toEqual(FULL);
    expect((await client.batches.retrieve(id)).status).toBe('in_progress');
    disk.code = '';
    expect((await client.batches.cancel(id)).status).toBe('cancelling');
    held.resolve();
    await vi.waitUntil(async () => (await client.batches.retrieve(id)).status === 'cancelled');
  });

  it('takes no upload, not even a part', async () => {
    const { client, upload, names } = await start();
    disk.code = code;
    expect(await refusal(upload())).toEqual(FULL);
    disk.code = '';
    expect((await client.files.list()).data).toEqual([]);
    expect(await names()).toEqual([]);
    await upload();
    expect((await client.files.list()).data).toHaveLength(1);
  });
});
