import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { createInterface } from 'node:readline';

import { expect, test } from './support/bridge-test.ts';
import { curl } from './support/curl.ts';
import { eosTokenId } from './support/reference.ts';
import { ANY_BACKEND } from './support/test.ts';

/** The real command, when it serves. */
async function startMain(...options: readonly string[]) {
  const main = new URL('../bridge/main.js', import.meta.url).pathname;
  const served = ['--headless', '--backend', 'wasm', '--port', '0', '--log', 'off'];
  const child = spawn(process.execPath, [main, ...served, ...options], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const lines = createInterface({ input: child.stdout });
  const ready = Promise.withResolvers<{ readonly tried: string; readonly url: string }>();
  const stopping = Promise.withResolvers<void>();
  lines.on('line', (line) => {
    const [, tried, url] = /is ready on CPU, .*Try: curl "((http:\/\/[^/]+).*)"/.exec(line) ?? [];
    if (tried !== undefined && url !== undefined) ready.resolve({ tried, url });
    if (line.startsWith('Stopping')) stopping.resolve();
  });
  return { child, exited, ...(await ready.promise), stopping: stopping.promise };
}

interface Ending {
  readonly text: string;
  /** Whether the whole body arrived, as HTTP defines its end. */
  readonly isWhole: boolean;
  /** The error of the connection, empty if it had none. */
  readonly error: string;
}

/** A stream that would go on for long, read to its end, whatever that is. */
function readStream(url: string) {
  const begun = Promise.withResolvers<number | undefined>();
  const { promise: ended, resolve: end } = Promise.withResolvers<Ending>();
  const headers = { 'Content-Type': 'application/json' };
  const sent = request(`${url}/v1/completions`, { method: 'POST', headers });
  let text = '';
  let error = '';
  sent.on('error', ({ message }) => end({ text, isWhole: false, error: message }));
  sent.on('response', (response) => {
    begun.resolve(response.statusCode);
    response.on('error', ({ message }) => (error = message));
    response.on('data', (piece) => (text += String(piece)));
    response.on('close', () => end({ text, isWhole: response.complete, error }));
  });
  const logitBias = { [eosTokenId]: -100 };
  sent.end(JSON.stringify({ prompt: 'Once', max_tokens: 500, logit_bias: logitBias, stream: true }));
  return { begun: begun.promise, ended };
}

const streamsOf = (url: string) => Array.from({ length: 16 }, () => readStream(url));

test(
  'one command serves without a window; after kill -TERM, every client of 16 streams reads an error event or its end, and none a reset',
  { tag: ANY_BACKEND },
  async () => {
    const { child, exited, tried, url } = await startMain('--drain-ms', '500');
    const { status, body } = await curl(`${tried}&maxNewTokens=2`);
    expect(status).toBe(200);
    expect(body).toMatch(/^Once upon a time./);
    const streams = streamsOf(url);
    // Half of them wait for a slot: their headers are there all the same.
    for (const { begun } of streams) expect(await begun).toBe(200);
    child.kill('SIGTERM');
    for (const { ended } of streams) {
      const { text, isWhole, error } = await ended;
      expect({ isWhole, error }).toEqual({ isWhole: true, error: '' });
      expect(text).toMatch(/data: (?:\[DONE\]|\{"error":\{[^\n]*"code":"SERVER_STOPPING"[^\n]*)\n\n$/);
    }
    expect(await exited).toEqual([0, null]);
  },
);

test('a second signal ends it at once', { tag: ANY_BACKEND }, async () => {
  const { child, exited, url, stopping } = await startMain('--drain-ms', '3600000');
  const streams = streamsOf(url);
  for (const { begun } of streams) expect(await begun).toBe(200);
  child.kill('SIGTERM');
  await stopping;
  child.kill('SIGINT');
  expect(await exited).toEqual([130, null]);
});
