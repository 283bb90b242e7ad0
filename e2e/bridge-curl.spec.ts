import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

import { SAMPLE_PROMPTS } from '../src/ui/compose/sample-prompts.ts';
import type { StepRecord } from '../src/worker/protocol.ts';
import { expect, startBridge, test } from './support/bridge-test.ts';
import { curl } from './support/curl.ts';
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
      message: expect.stringContaining(`open ${url}`),
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

test('one command serves GPT-2 without a window', { tag: ANY_BACKEND }, async () => {
  const main = new URL('../bridge/main.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, [main, '--headless', '--port', '0', '--log', 'off'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  let command: string | undefined;
  for await (const line of createInterface({ input: child.stdout })) {
    command = /Try: curl "(.*)"/.exec(line)?.[1];
    if (command !== undefined) break;
  }
  const { status, body } = await curl(`${command}&maxNewTokens=2`);
  expect(status).toBe(200);
  expect(body).toMatch(/^Once upon a time./);
  child.kill('SIGTERM');
  expect(await exited).toEqual([0, null]);
});
