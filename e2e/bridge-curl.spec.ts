import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';

import { SAMPLE_PROMPTS } from '../src/ui/state/composer/sample-prompts.ts';
import type { StepRecord } from '../src/protocol/stats.ts';
import { startHubServer } from '../tools/hub-server/hub-server.ts';
import { expect, startBridge, test } from './support/bridge-test.ts';
import { curl } from './support/curl.ts';
import { reference } from './support/reference.ts';
import { someOf } from './support/seeded-random.ts';
import type { Tab } from './support/tab.ts';
import { ANY_BACKEND } from './support/test.ts';

test.describe('curl', { tag: ANY_BACKEND }, () => {
  test('asks the open tab with the line of the tutorial', async ({ served }) => {
    const { status, body } = await curl(`${served.url}/?text=Once+upon+a+time`);
    expect(status).toBe(200);
    expect(body).toMatch(/^Once upon a time.{20}/);
  });

  test('asks with the nine prompts of the tutorial at once, in at most four batches', async ({ served }) => {
    const { tab, url } = served;
    await tab.configure({ policy: 'static', maxBatchSize: 4, batchWaitTimeoutMs: 1000 });
    await tab.forget();
    const answers = await Promise.all(
      SAMPLE_PROMPTS.map((prompt) =>
        curl(`${url}/?${String(new URLSearchParams({ text: prompt }))}`, { method: 'POST' }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(SAMPLE_PROMPTS.map(() => 200));
    for (const [index, prompt] of SAMPLE_PROMPTS.entries()) {
      expect(answers[index]?.body.startsWith(prompt), `${answers[index]?.body} begins with ${prompt}`).toBe(
        true,
      );
      expect(answers[index]?.body.length).toBeGreaterThan(prompt.length);
    }
    await expect.poll(async () => numPrefilled(await recordedSteps(tab))).toBe(SAMPLE_PROMPTS.length);
    const steps = await recordedSteps(tab);
    // A static batch runs until its last member ends: prefills after decode steps are those of the next batch.
    const numBatches = steps.filter(
      ({ kind }, index) => kind === 'prefill' && steps[index - 1]?.kind !== 'prefill',
    ).length;
    expect(numBatches).toBeGreaterThanOrEqual(3);
    expect(numBatches).toBeLessThanOrEqual(4);
    expect(Math.max(...steps.map(({ batchSize }) => batchSize))).toBe(4);
  });

  test('asks with options of the generator, and gets all of the result as JSON', async ({ served }) => {
    const query =
      'text=Once+upon+a+time&maxNewTokens=6&temperature=0.8&seed=7&n=2&stop=dragon&logitBias=262:-100';
    const { body } = await curl(`${served.url}/?${query}`, { headers: { Accept: 'application/json' } });
    const inPage = await served.tab.generate('Once upon a time', {
      maxNewTokens: 6,
      temperature: 0.8,
      seed: 7,
      n: 2,
      stop: ['dragon'],
      logitBias: { 262: -100 },
    });
    expect(JSON.parse(body)).toMatchObject({
      text: inPage.text,
      choices: inPage.choices,
      usage: inPage.usage,
    });
  });

  test('sends the prompt in a form, in JSON and in plain text', async ({ served: { tab, url } }) => {
    const options = { maxNewTokens: 4, temperature: 0 } as const;
    const { text: continued } = await tab.generate('Once', options);
    const json = { 'content-type': 'application/json' };
    const query = '/?maxNewTokens=4&temperature=0';
    expect(await curl(`${url}${query}`, { data: 'text=Once' })).toEqual({ status: 200, body: continued });
    expect(await curl(`${url}${query}`, { form: { text: 'Once' } })).toEqual({
      status: 200,
      body: continued,
    });
    expect(await curl(`${url}${query}`, { data: '{"text": "Once"}', headers: json })).toEqual({
      status: 200,
      body: continued,
    });
    const all = JSON.stringify({ text: 'Once', ...options });
    expect(await curl(url, { data: all, headers: json })).toEqual({ status: 200, body: continued });
    const plain = { data: 'Once', headers: { 'content-type': 'text/plain' } };
    expect(await curl(`${url}${query}`, plain)).toEqual({ status: 200, body: continued });
  });

  test('asks with nothing but a prompt, in a form or in JSON', async ({ served: { url } }) => {
    const form = await curl(url, { data: 'text=Once' });
    const json = await curl(url, {
      data: '{"text": "Once"}',
      headers: { 'content-type': 'application/json' },
    });
    expect([form.status, json.status]).toEqual([200, 200]);
    for (const { body } of [form, json]) expect(body).toMatch(/^Once.{20}/s);
  });

  test('is told of health, routes and the version as by vLLM and Ray Serve', async ({ served: { url } }) => {
    expect(await curl(`${url}/health`)).toEqual({ status: 200, body: '' });
    expect(await curl(`${url}/-/healthz`)).toEqual({ status: 200, body: 'success' });
    expect(JSON.parse((await curl(`${url}/-/routes`)).body)).toEqual({
      '/': 'text-generator',
      '/adder': 'adder',
      '/house-price': 'house-price',
    });
    expect(JSON.parse((await curl(`${url}/version`)).body)).toEqual({ version: expect.any(String) });
  });

  test('tokenizes as PyTorch’s tokenizer does, and back', async ({ served: { url } }) => {
    const headers = { 'content-type': 'application/json' };
    for (const { prompt, promptTokenIds } of reference.prompts) {
      const data = JSON.stringify({ prompt, return_token_strs: true });
      const { body } = await curl(`${url}/tokenize`, { data, headers });
      const answer = JSON.parse(body);
      expect(answer).toEqual({
        count: promptTokenIds.length,
        max_model_len: expect.any(Number),
        tokens: promptTokenIds,
        token_strs: expect.any(Array),
      });
      expect(answer.token_strs.join('').replaceAll('Ġ', ' ')).toBe(prompt);
      const tokens = JSON.stringify({ tokens: promptTokenIds });
      expect(JSON.parse((await curl(`${url}/detokenize`, { data: tokens, headers })).body)).toEqual({
        prompt,
      });
    }
  });

  test('asks the adder, the house price and a deployment by its name', async ({ served }) => {
    const headers = { 'Content-Type': 'application/json' };
    const house = [120, 3, 2, 25, 8, 450, 0.6, 1];
    const price = await served.tab.page.evaluate(
      (features) => window.tabserve.getHandle('house-price').remote(features).result(),
      house,
    );
    expect(await curl(`${served.url}/adder?number=3`)).toMatchObject({ status: 200, body: '4\n' });
    const asked = await curl(`${served.url}/house-price`, {
      headers,
      data: JSON.stringify({ features: [house, house] }),
    });
    expect(JSON.parse(asked.body)).toEqual({ predictions: [price, price] });
    expect((await curl(`${served.url}/adder`, { data: 'number=3' })).body).toBe('4\n');
    const named = await curl(`${served.url}/deployments/adder`, { headers, data: '{"input":41}' });
    expect(named.body).toBe('42\n');
  });

  test('is told which tab to open where none serves', async () => {
    const bridge = await startBridge({ graceMs: 0 });
    const { url } = bridge;
    const { status, body } = await curl(`${url}/?text=Once`);
    expect(status).toBe(503);
    expect(JSON.parse(body).error).toMatchObject({
      code: 'NO_TAB',
      message: expect.stringContaining(`Open ${url}`),
    });
    expect((await curl(`${url}/healthz`)).status).toBe(503);
    expect((await curl(`${url}/metrics`)).status).toBe(200);
    await bridge.close();
  });
});

/** Steps of whatever client: a page hears of all. */
function recordedSteps({ page }: Tab): Promise<StepRecord[]> {
  return page.evaluate(() => window.recorder.steps);
}

function numPrefilled(steps: readonly StepRecord[]): number {
  const prefills = steps.filter(({ kind }) => kind === 'prefill');
  return prefills.reduce((sum, { batchSize }) => sum + batchSize, 0);
}

const MAIN = new URL('../bridge/main.js', import.meta.url).pathname;

/** Returns the command's standard error and its exit status. */
async function runToEnd(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const child = spawn(process.execPath, [MAIN, '--port', '0', '--log', 'off', '--no-open', ...args], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, ...env },
  });
  const [errors, [status]] = await Promise.all([text(child.stderr), once(child, 'close')]);
  return { errors, status: Number(status) };
}

test.describe('a command that cannot start ends with one line', { tag: ANY_BACKEND }, () => {
  test('a headless browser that dies at start', async () => {
    const path = test.info().outputPath('dying-browser');
    const script = '#!/bin/sh\n[ "$1" = --version ] && echo Chromium 1.0 && exit\necho no room >&2\nexit 1\n';
    await writeFile(path, script, { mode: 0o755 });
    const { errors, status } = await runToEnd(['--headless'], { CHROME_PATH: path });
    expect(errors).toMatch(
      /^The headless browser does not stay open .*no room.*CHROME_PATH.*--headless.*\n$/,
    );
    expect(status).toBe(1);
  });

  const refusals = [
    ['RepoNotFound', 'MODEL_NOT_FOUND'],
    ['GatedRepo', 'MODEL_ACCESS_DENIED'],
  ] as const;
  for (const [errorCode, code] of someOf(refusals, 1)) {
    test(`a model that the hub refuses: ${errorCode}`, async () => {
      const hub = await startHubServer([]);
      hub.fault = () => ({ status: 401, headers: { 'X-Error-Code': errorCode } });
      const profile = test.info().outputPath('profile');
      const options = ['--headless', '--backend', 'wasm', '--hub', hub.url, '--profile', profile];
      const { errors, status } = await runToEnd([...options, '--model', 'tests/model']);
      await hub.close();
      const [line] = errors.trimEnd().split('\n').slice(-1);
      expect(line).toMatch(new RegExp(`tests/model.* \\(${code}\\)$`));
      expect(status).toBe(1);
    });
  }

  test('an address of another machine', async () => {
    const { errors, status } = await runToEnd(['--host', '192.0.2.1']);
    expect(errors).toMatch(/^192\.0\.2\.1 is not an address of this machine: pass --host .*\n$/);
    expect(status).toBe(1);
  });
});

test('a server of --upstream that refuses is warned of at start', { tag: ANY_BACKEND }, async () => {
  const args = [MAIN, '--port', '0', '--log', 'off', '--no-open', '--upstream', 'http://127.0.0.1:9'];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  const exited = once(child, 'exit');
  const [line] = await once(createInterface({ input: child.stderr }), 'line');
  expect(line).toMatch(/^Warning: Couldn't reach http:\/\/127\.0\.0\.1:9,.*Check its address/);
  child.kill('SIGTERM');
  expect(await exited).toEqual([0, null]);
});
