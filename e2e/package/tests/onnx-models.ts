import { readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { chromium, type Page } from 'playwright/test';

import { NO_WEBGPU_ARGUMENTS, WEBGPU_ARGUMENTS } from '../../../bridge/browser/launch-arguments.ts';
import { Bridge } from '../../../bridge/bridge.ts';
import { startServer } from '../../../bridge/server.ts';
import type { TabserveClient } from '../../../src/client/index.ts';
import reference from '../../../tools/reference/fixtures/onnx-models-reference.json' with { type: 'json' };
import { requireEnvironment } from '../../support/environment.ts';
import { IS_WHOLE } from '../../support/test.ts';
import { expect, test } from '../app-page.ts';

// The example's three models, asked by two tabs and 16 HTTP clients at once, against onnxruntime in Python.

const NUM_CLIENTS = 16;
const SPECIES = ['setosa', 'versicolor', 'virginica'];

/** Set by the example's script. */
interface ExampleWindow {
  readonly serve: TabserveClient<Record<Name, { input: unknown; output: Answer }>>;
  readonly pixelsOf: (canvas: HTMLCanvasElement) => readonly number[];
}

type Name = keyof typeof reference;
type Answer = Readonly<Record<string, unknown>>;

const NAMES = ['flowers', 'topics', 'digits'] as const;
/** What Python's onnxruntime answers. */
const EXPECTED: Readonly<Record<Name, readonly (readonly number[])[]>> = {
  flowers: reference.flowers.probabilities,
  topics: reference.topics.logits,
  digits: reference.digits.probabilities,
};

for (const [backend, args, runtimes] of [
  ['WASM', NO_WEBGPU_ARGUMENTS, 1],
  // The scikit-learn model stays on the CPU.
  ['WebGPU', WEBGPU_ARGUMENTS, 2],
] as const) {
  // A software adapter compiles for half a minute.
  if (backend === 'WebGPU' && !IS_WHOLE) continue;
  test(`onnx-models answers two tabs and ${NUM_CLIENTS} HTTP clients on ${backend}, in batches, as Python does`, async ({
    place,
  }) => {
    if (backend === 'WebGPU') await askForWebGpu(join(place.folder, 'examples/onnx-models/src'));
    await place.runScript('onnx-models', 'build');
    let url = '';
    const bridge = new Bridge({ host: 'localhost', url: () => url });
    const root = join(place.folder, 'examples/onnx-models/dist');
    await using server = await startServer({ host: 'localhost', port: 0, root, policy: '', bridge });
    ({ url } = server);
    const { pagesBrowserPath: executablePath } = requireEnvironment();
    const browser = await chromium.launch({ executablePath, args: [...args] });
    try {
      const context = await browser.newContext();
      const runtimesLoaded = new Set<string>();
      context.on('request', (request) => {
        if (request.url().endsWith('.wasm')) runtimesLoaded.add(basename(request.url()));
      });
      const [page, other] = [
        await openExample(await context.newPage(), url),
        await openExample(await context.newPage(), url),
      ];
      const measured = [];
      for (const name of NAMES) {
        const answers = await Promise.all([
          askInPage(page, name, reference[name].inputs),
          askInPage(other, name, reference[name].inputs),
          askOverHttp(url, name),
        ]);
        const differences = answers.map((each) => differenceOf(name, each));
        measured.push({ name, difference: Math.max(...differences), batch: await largestBatch(page, name) });
      }
      test.info().annotations.push({ type: backend, description: JSON.stringify(measured) });
      for (const { name, difference, batch } of measured) {
        expect(difference, `${name}: the largest difference to Python`).toBeLessThan(1e-5);
        expect(batch, `${name}: the largest batch`).toBeGreaterThanOrEqual(8);
      }
      expect(runtimesLoaded.size, [...runtimesLoaded].join(' ')).toBe(runtimes);
      await expectDrawnDigits(page);
      await expectOthersAnswered(page);
    } finally {
      await browser.close();
    }
  });
}

/** The example's `auto` passes software adapters over. */
async function askForWebGpu(sources: string): Promise<void> {
  for (const name of ['topics.ts', 'digits.ts']) {
    const path = join(sources, name);
    await writeFile(path, (await readFile(path, 'utf8')).replace("'auto'", "'webgpu'"));
  }
}

async function openExample(page: Page, url: string): Promise<Page> {
  await page.goto(url);
  await page.waitForFunction(() => 'serve' in window);
  return page;
}

/** Asks for all inputs at once. A refused one is answered by its error's code. */
function askInPage(page: Page, name: Name, inputs: readonly unknown[]): Promise<readonly Answer[]> {
  return page.evaluate(
    ([deployment, values]) => {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the example's script has set it
      const handle = (window as unknown as ExampleWindow).serve.getHandle(deployment);
      return Promise.all(
        values.map((input) =>
          handle
            .remote(input)
            .result()
            .catch(({ code }: { code: string }) => ({ code })),
        ),
      );
    },
    [name, inputs] as const,
  );
}

function askOverHttp(url: string, name: Name): Promise<readonly Answer[]> {
  return Promise.all(
    reference[name].inputs.slice(0, NUM_CLIENTS).map(async (input): Promise<Answer> => {
      const response = await fetch(`${url}/deployments/${name}`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ input }),
      });
      expect(response.ok, response.ok ? '' : await response.text()).toBe(true);
      return response.json();
    }),
  );
}

/** The largest one of all values. `answers` are those to the first inputs, in order. */
function differenceOf(name: Name, answers: readonly Answer[]): number {
  expect(answers.length).toBeGreaterThanOrEqual(NUM_CLIENTS);
  const differences = answers.flatMap((answer, index) => {
    const expected = EXPECTED[name][index] ?? [];
    const values = name === 'topics' ? answer['logits'] : answer['probabilities'];
    expect(values).toHaveLength(expected.length);
    if (name === 'flowers') expect(answer['species']).toBe(SPECIES[reference.flowers.labels[index] ?? -1]);
    return expected.map((value, at) => Math.abs(value - Number(Object(values)[at])));
  });
  return Math.max(...differences);
}

function largestBatch(page: Page, name: Name): Promise<number> {
  return page.evaluate((deployment) => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the example's script has set it
    const { serve } = window as unknown as ExampleWindow;
    return Math.max(...serve.batches(deployment).map(({ batchSize }) => batchSize));
  }, name);
}

/** Digits in squares on the page's canvas are what Python was asked for, and a stroke of the pointer is read as some digit. */
async function expectDrawnDigits(page: Page): Promise<void> {
  const pictures = await page.evaluate((inputs) => {
    const canvas = document.querySelector('canvas');
    const context = canvas?.getContext('2d');
    if (!canvas || !context) throw new Error('no canvas');
    const width = canvas.width / 8;
    return inputs.map((values) => {
      for (const [index, value] of values.entries()) {
        context.fillStyle = `rgb(${value} ${value} ${value})`;
        context.fillRect((index % 8) * width, Math.floor(index / 8) * width, width, width);
      }
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the example's script has set it
      return (window as unknown as ExampleWindow).pixelsOf(canvas);
    });
  }, reference.digits.inputs);
  expect(pictures).toEqual(reference.digits.inputs);
  const { x, y } = await page.locator('canvas').evaluate((canvas) => canvas.getBoundingClientRect());
  await page.mouse.move(x + 80, y + 20);
  await page.mouse.down();
  await page.mouse.move(x + 80, y + 140, { steps: 20 });
  await page.mouse.up();
  await expect(page.getByRole('status')).toHaveText(/^\d, \d+%$/);
}

/** Of a batch, only the items of another shape fail. */
async function expectOthersAnswered(page: Page): Promise<void> {
  const { inputs } = reference.digits;
  const wrong = [5, 17];
  const items = inputs.map((input, index) => (wrong.includes(index) ? [...input, 0] : input));
  const answers = await askInPage(page, 'digits', items);
  for (const index of wrong) expect(answers[index]).toEqual({ code: 'INVALID_OPTION' });
  const rest = answers.map((answer, index) => (wrong.includes(index) ? undefined : answer['digit']));
  const expected = EXPECTED.digits.map((row, index) =>
    wrong.includes(index) ? undefined : row.indexOf(Math.max(...row)),
  );
  expect(rest).toEqual(expected);
}
