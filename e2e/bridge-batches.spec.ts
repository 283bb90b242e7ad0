import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';

import OpenAI from 'openai';

import { SAMPLE_PROMPTS } from '../src/ui/state/composer/sample-prompts.ts';
import { expect, startBridge, test, type ServedBridge } from './support/bridge-test.ts';
import { openTab, type Tab } from './support/tab.ts';
import { ANY_BACKEND, IS_WHOLE } from './support/test.ts';

const NUM_ROWS = IS_WHOLE ? 5000 : 200;

const KILLED_AT = [0.1, 0.3, 0.6];

const MAIN = new URL('../bridge/main.js', import.meta.url).pathname;

/** Rows of several lengths that share their beginnings, most without a seed of their own. */
const BODIES = Array.from({ length: NUM_ROWS }, (_, index) => ({
  prompt: `${SAMPLE_PROMPTS[index % SAMPLE_PROMPTS.length]} ${index}`,
  max_tokens: 8 + (index % 3) * 12,
  temperature: 0.9,
  ...(index % 10 === 0 && { seed: index }),
}));

const LINES = BODIES.map((body, index) => {
  const row = { custom_id: `row-${index}`, method: 'POST', url: '/v1/completions', body };
  return `${JSON.stringify(row)}\n`;
});

/** The parts of a result that the tests read. */
interface Result {
  readonly custom_id: string;
  readonly response: { readonly body: { readonly choices: readonly { readonly text: string }[] } };
}

const resultsIn = (text: string): Result[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line): Result => JSON.parse(line));

const textsIn = (text: string) => resultsIn(text).map(({ response }) => response.body.choices[0]?.text);

function startRunBatch(input: string, output: string, ...options: readonly string[]) {
  const args = [MAIN, 'run-batch', '-i', input, '-o', output, '--backend', 'wasm', ...options];
  const child = spawn(process.execPath, args, { stdio: 'ignore' });
  return { child, exited: once(child, 'exit') };
}

/** A job of the page over the same file. */
const textsOfJob = ({ page }: Tab) =>
  page.evaluate(async (requests) => {
    const job = await window.tabserve.jobs.create({ requests });
    await job.done();
    const texts: (string | undefined)[] = [];
    for await (const { result } of job.results()) texts.push(result.text);
    await job.delete();
    return texts;
  }, LINES);

const clientOf = ({ url }: ServedBridge): OpenAI => new OpenAI({ apiKey: 'none', baseURL: `${url}/v1` });

test(
  'a batch that waits for a tab, and whose bridge is restarted in its middle, has each row once, in order, as it is alone, and as a job of the page and run-batch have it',
  { tag: ANY_BACKEND },
  async ({ browser, backend }) => {
    test.setTimeout(900_000);
    const batchFolder = test.info().outputPath('batches');
    const first = await startBridge({ batchFolder, graceMs: 0 });
    const client = clientOf(first);
    const file = await client.files.create({ file: new File(LINES, 'in.jsonl'), purpose: 'batch' });
    const { id } = await client.batches.create({
      input_file_id: file.id,
      endpoint: '/v1/completions',
      completion_window: '24h',
    });
    await expect.poll(async () => (await client.batches.retrieve(id)).status).toBe('in_progress');
    const context = await browser.newContext({ baseURL: first.url });
    const tab = await openTab(context, backend);
    const numDone = async () => (await client.batches.retrieve(id)).request_counts?.completed ?? 0;
    await expect.poll(numDone, { intervals: [20] }).toBeGreaterThan(NUM_ROWS / 10);
    await first.close();

    const second = await startBridge({ batchFolder, port: first.port });
    await expect
      .poll(async () => (await client.batches.retrieve(id)).status, { timeout: 300_000 })
      .toBe('completed');
    const batch = await client.batches.retrieve(id);
    expect(batch.request_counts).toEqual({ total: NUM_ROWS, completed: NUM_ROWS, failed: 0 });
    const output = await client.files.content(batch.output_file_id ?? '');
    const text = await output.text();
    const results = resultsIn(text);
    expect(results.map(({ custom_id: row }) => row)).toEqual(BODIES.map((_, index) => `row-${index}`));
    // Rows with a seed of their own, one at a time.
    for (const [index, { prompt, max_tokens: maxNewTokens, temperature, seed }] of BODIES.entries()) {
      if (seed === undefined) continue;
      const alone = await tab.generate(prompt, { maxNewTokens, temperature, seed });
      expect(results[index]?.response.body.choices[0]?.text).toBe(alone.generatedText);
    }
    expect(await textsOfJob(tab)).toEqual(textsIn(text));
    await context.close();
    await second.close();
    const input = test.info().outputPath('in.jsonl');
    const ofCommand = test.info().outputPath('out.jsonl');
    await writeFile(input, LINES);
    expect(await startRunBatch(input, ofCommand).exited).toEqual([0, null]);
    expect(textsIn(await readFile(ofCommand, 'utf8'))).toEqual(textsIn(text));
  },
);

test(
  'run-batch, killed and resumed, writes byte for byte what an undisturbed run does',
  { tag: ANY_BACKEND },
  async () => {
    test.skip(
      !IS_WHOLE,
      'each start of a browser takes seconds; unit tests of run-batch have it without one',
    );
    const input = test.info().outputPath('in.jsonl');
    await writeFile(input, LINES);
    const undisturbed = test.info().outputPath('undisturbed.jsonl');
    expect(await startRunBatch(input, undisturbed).exited).toEqual([0, null]);

    const output = test.info().outputPath('out.jsonl');
    const numResults = async () => (await readFile(output, 'utf8').catch(() => '')).split('\n').length - 1;
    for (const share of KILLED_AT) {
      const { child, exited } = startRunBatch(input, output, '--resume');
      await expect.poll(numResults, { intervals: [20] }).toBeGreaterThan(share * NUM_ROWS);
      child.kill('SIGKILL');
      await exited;
      expect(await numResults()).toBeLessThan(NUM_ROWS);
    }
    expect(await startRunBatch(input, output, '--resume').exited).toEqual([0, null]);
    expect(await readFile(output, 'utf8')).toBe(await readFile(undisturbed, 'utf8'));
  },
);
