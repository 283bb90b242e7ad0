import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import OpenAI from 'openai';
import { expect, it, onTestFinished, vi } from 'vitest';

import { createFolder } from '../testing/test-support.ts';
import { rowLines, startEchoServer } from '../testing/batch-rows.ts';
import { IS_WHOLE } from '../../src/batching/testing/whole-run.ts';

const NUM_KILLS = IS_WHOLE ? 20 : 3;

const NUM_ROWS = 60 * NUM_KILLS;

/** A process that can be killed. */
const SERVER = `
  import { createServer } from 'node:http';
  import { Bridge } from './bridge/bridge.ts';
  const [, batchFolder, url] = process.argv;
  const bridge = new Bridge({ host: 'localhost', url: () => '', batchFolder, forwardTo: { url } });
  const server = createServer((request, response) => bridge.handle(request, response, () => response.end()));
  server.listen(0, '127.0.0.1', () => console.log(server.address().port));
`;

async function startServer(folder: string, target: string) {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', SERVER, folder, target]);
  onTestFinished(() => void child.kill('SIGKILL'));
  const exited = once(child, 'exit');
  const [port] = await once(createInterface({ input: child.stdout }), 'line');
  const client = new OpenAI({ apiKey: 'none', baseURL: `http://127.0.0.1:${port}/v1`, maxRetries: 0 });
  return { client, kill: () => child.kill('SIGKILL') && exited };
}

it(
  'a batch has each row once, right and in order, however often its server is killed',
  { timeout: 600_000 },
  async () => {
    const { url, state } = await startEchoServer();
    const folder = await createFolder({});
    const first = await startServer(folder, url);
    const file = await first.client.files.create({
      file: new File([rowLines(NUM_ROWS)], 'in.jsonl'),
      purpose: 'batch',
    });
    state.hold = Promise.withResolvers<void>().promise;
    const given = { input_file_id: file.id, endpoint: '/v1/completions', completion_window: '24h' } as const;
    const { id } = await first.client.batches.create(given);
    let server = first;
    for (let killed = 0; killed < NUM_KILLS; killed += 1) {
      await vi.waitUntil(() => state.prompts.length > 0, { timeout: 60_000 });
      const numWanted = 1 + Math.floor(Math.random() * 40);
      state.hold = undefined;
      await vi.waitUntil(() => state.prompts.length >= numWanted, { timeout: 60_000, interval: 1 });
      state.hold = Promise.withResolvers<void>().promise;
      await server.kill();
      state.prompts.length = 0;
      server = await startServer(folder, url);
    }
    state.hold = undefined;
    const done = await vi.waitUntil(
      async () => {
        const batch = await server.client.batches.retrieve(id);
        return batch.status === 'completed' && batch;
      },
      { timeout: 60_000 },
    );
    const text = await (await server.client.files.content(done.output_file_id ?? '')).text();
    const results = text
      .trimEnd()
      .split('\n')
      .map((line): unknown => JSON.parse(line));
    expect(results).toHaveLength(NUM_ROWS);
    expect(results).toMatchObject(
      Array.from({ length: NUM_ROWS }, (_, index) => ({
        custom_id: `row-${index}`,
        response: { body: { choices: [{ text: expect.stringMatching(new RegExp(`^row-${index} \\d+$`)) }] } },
      })),
    );
    await server.kill();
  },
);
