import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import OpenAI from 'openai';
import { expect, test } from 'playwright/test';

import { CHAT_MODEL, chatCheckpoint } from '../tools/hub-server/checkpoints/chat-checkpoint.ts';
import { DECODERS } from '../tools/hub-server/checkpoints/decoders.ts';
import { ENCODERS } from '../tools/hub-server/checkpoints/encoders.ts';
import { ggufCheckpoint } from '../tools/hub-server/checkpoints/gguf-checkpoint.ts';
import { writeCheckpoints } from '../tools/hub-server/checkpoints/write-checkpoints.ts';
import { ANY_BACKEND } from './support/test.ts';

const MAIN = new URL('../bridge/main.js', import.meta.url).pathname;

/** The command, once its first model is ready. The test's folder is where it runs. */
async function serve(...options: readonly string[]) {
  const fixed = ['--headless', '--backend', 'wasm', '--port', '0', '--log', 'off', '--profile', 'profile'];
  const child = spawn(process.execPath, [MAIN, ...fixed, ...options], {
    cwd: test.info().outputDir,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  let origin: string | undefined;
  for await (const line of createInterface({ input: child.stdout })) {
    origin = /is ready on .*Try: curl "?(http:\/\/[^/]+)/.exec(line)?.[1];
    if (origin !== undefined) break;
  }
  const client = new OpenAI({ apiKey: 'none', baseURL: `${origin}/v1`, maxRetries: 0 });
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    expect(await exited).toEqual([0, null]);
  };
  return { client, stop };
}

test('folders on the disk serve chats, vectors and scores', { tag: ANY_BACKEND }, async () => {
  const encoders = [...ENCODERS].filter(([id]) => !id.includes('qwen3'));
  writeCheckpoints(test.info().outputDir, new Map([[CHAT_MODEL, chatCheckpoint], ...encoders]));
  const reranker = test.info().outputPath('generated/cross-encoder');
  const options = ['--model', `./${CHAT_MODEL}`, '--embedder', './generated/bert', '--reranker', reranker];
  const { client, stop } = await serve(...options);
  const { choices } = await client.chat.completions.create({
    model: 'local/chat',
    messages: [{ role: 'user', content: 'Hello' }],
    max_completion_tokens: 8,
  });
  expect(choices[0]?.message.content).toMatch(/^[a-z ]+$/);
  const served = ['local/chat', 'local/bert', 'local/cross-encoder'];
  await expect.poll(async () => (await client.models.list()).data.map(({ id }) => id)).toEqual(served);
  const { data } = await client.embeddings.create({ model: 'local/bert', input: ['a fox', 'a tab'] });
  expect(data.map(({ embedding }) => embedding.length)).toEqual([96, 96]);
  await stop();
});

test(
  'a GGUF file on the disk serves, and another one in its place after a restart',
  { tag: ANY_BACKEND },
  async () => {
    const path = test.info().outputPath('My model.gguf');
    const texts: (string | undefined)[] = [];
    for (const id of ['generated/llama', 'generated/qwen2']) {
      await writeFile(path, await ggufCheckpoint(DECODERS.get(id)?.() ?? new Map()));
      const { client, stop } = await serve('--model', 'My model.gguf');
      const asked = { model: 'local/My-model', prompt: 'Once', max_tokens: 12, temperature: 0 };
      texts.push((await client.completions.create(asked)).choices[0]?.text);
      await stop();
    }
    expect(texts[0]).not.toBe(texts[1]);
  },
);
