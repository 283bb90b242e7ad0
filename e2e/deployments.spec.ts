import housePrices from '../tools/reference/fixtures/house-price-reference.json' with { type: 'json' };
import { ANY_BACKEND, expect, test } from './support/test.ts';
import type { Tab } from './support/tab.ts';
import type { BatchRecord } from '../src/protocol/stats.ts';

/** Handles queries 0…8 as the tutorial does, `gapMs` apart. Returns the answers, and the batches that they ran in. */
function sendNineTo(tab: Tab, gapMs: number): Promise<{ answers: number[]; batches: BatchRecord[] }> {
  return tab.page.evaluate(async (gap) => {
    const adder = window.tabserve.getHandle('adder');
    const before = window.tabserve.batches('adder').at(-1)?.batchIndex ?? -1;
    const responses: ReturnType<typeof adder.remote>[] = [];
    const start = performance.now();
    for (let number = 0; number < 9; number++) {
      while (performance.now() < start + number * gap) await new Promise((resolve) => setTimeout(resolve, 1));
      responses.push(adder.remote(number));
    }
    const answers = await Promise.all(responses.map((response) => response.result()));
    const batches = window.tabserve.batches('adder').filter(({ batchIndex }) => batchIndex > before);
    return { answers, batches };
  }, gapMs);
}

const sizesAndReasons = (batches: readonly BatchRecord[]): string =>
  batches.map(({ batchSize, reason }) => `${batchSize} ${reason}`).join(', ');

test.describe("the tutorial's adder", { tag: ANY_BACKEND }, () => {
  test.afterEach(async ({ tab }) => {
    await tab.page.evaluate(() =>
      window.tabserve.configure('adder', { maxBatchSize: 4, batchWaitTimeoutMs: 0, maxConcurrentBatches: 1 }),
    );
  });

  test('answers nine calls in one tick in batches of 1, 4 and 4', async ({ tab }) => {
    const { answers, batches } = await sendNineTo(tab, 0);
    expect(answers).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(sizesAndReasons(batches)).toBe('1 idle, 4 full, 4 full');
  });

  test('answers nine calls 5 ms apart likewise', async ({ tab }) => {
    const { answers, batches } = await sendNineTo(tab, 5);
    expect(answers).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(batches.map(({ batchSize }) => batchSize)).toEqual([1, 4, 4]);
  });

  test('waits for company with batchWaitTimeoutMs 50: 4, 4 and 1', async ({ tab }) => {
    await tab.page.evaluate(() => window.tabserve.configure('adder', { batchWaitTimeoutMs: 50 }));
    const { answers, batches } = await sendNineTo(tab, 0);
    expect(answers).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(sizesAndReasons(batches)).toBe('4 full, 4 full, 1 timeout');
  });

  test('shows answers and batches in the page', async ({ tab }) => {
    const { page } = tab;
    await page.getByRole('tab', { name: 'Deployments' }).click();
    const clear = page.getByRole('button', { name: 'Clear settled' });
    if (await clear.isEnabled()) await clear.click();
    await page.getByRole('button', { name: 'Send 9 queries' }).click();
    const answers = page.getByRole('list', { name: 'Answers' }).locator('[data-status=answered]');
    await expect(answers).toHaveCount(9);
    await expect(page.getByRole('table', { name: 'Batches' }).locator('[data-reason=full]')).not.toHaveCount(
      0,
    );
    await expect(page.getByTestId('batch-timeline')).toBeVisible();
    const line = page.locator('.deployment-view:visible').getByTestId('answer-line');
    await expect(line).toHaveText(/^9 answers in \d+ ms, [2-5] batches$/);
    await page.getByRole('textbox', { name: 'Number' }).fill('41');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await expect(line).toHaveText(/^41 → 42 in \d+ ms$/);
    await page.getByRole('tab', { name: 'Text' }).click();
  });
});

test('100 house prices at once run in batches of up to 32 and equal the reference, and each price alone', async ({
  tab,
}) => {
  const features = housePrices.houses.map((house) => house.features);
  const { together, alone, sizes } = await tab.page.evaluate(async (houses) => {
    const predictor = window.tabserve.getHandle('house-price');
    const pricesTogether = await Promise.all(houses.map((house) => predictor.remote(house).result()));
    const batchSizes = window.tabserve.batches('house-price').map(({ batchSize }) => batchSize);
    await window.tabserve.configure('house-price', { maxBatchSize: 1 });
    const pricesAlone = await Promise.all(houses.map((house) => predictor.remote(house).result()));
    await window.tabserve.configure('house-price', { maxBatchSize: 32 });
    return { together: pricesTogether, alone: pricesAlone, sizes: batchSizes };
  }, features);
  expect(sizes).toEqual([32, 32, 32, 4]);
  for (const [index, { price }] of housePrices.houses.entries()) {
    expect(relativeError(together[index], price)).toBeLessThan(1e-5);
    expect(relativeError(together[index], alone[index] ?? Number.NaN)).toBeLessThan(1e-5);
  }
});

test(
  '100 house prices at once share full batches, however slow their page is',
  { tag: ANY_BACKEND },
  async ({ tab }) => {
    const features = housePrices.houses.map((house) => house.features);
    const session = await tab.page.context().newCDPSession(tab.page);
    await session.send('Emulation.setCPUThrottlingRate', { rate: 40 });
    const sizes = await tab.page.evaluate(async (houses) => {
      const numBefore = window.tabserve.batches('house-price').length;
      const predictor = window.tabserve.getHandle('house-price');
      await Promise.all(houses.map((house) => predictor.remote(house).result()));
      return window.tabserve
        .batches('house-price')
        .slice(numBefore)
        .map(({ batchSize }) => batchSize);
    }, features);
    await session.send('Emulation.setCPUThrottlingRate', { rate: 1 });
    await session.detach();
    expect(sizes).toEqual([32, 32, 32, 4]);
  },
);

test(
  'a bad input, an unknown knob and an unknown deployment are refused with their codes',
  { tag: ANY_BACKEND },
  async ({ tab }) => {
    const codes = await tab.page.evaluate(async () => {
      // oxlint-disable-next-line unicorn/consistent-function-scoping -- runs in the page, where nothing from outside is
      const codeOf = (promise: PromiseLike<unknown>): PromiseLike<string> =>
        promise.then(
          () => 'none',
          (error: { code: string }) => error.code,
        );
      const { tabserve } = window;
      return Promise.all([
        codeOf(tabserve.getHandle<unknown, number>('adder').remote('three')),
        codeOf(tabserve.getHandle('house-price').remote([1, 2])),
        codeOf(tabserve.configure('adder', { maxBatchSize: 0 })),
        codeOf(tabserve.configure('adder', JSON.parse('{"batchSize": 3}'))),
        codeOf(tabserve.getHandle('translator').remote('hello')),
      ]);
    });
    expect(codes).toEqual([
      'INVALID_OPTION',
      'INVALID_OPTION',
      'INVALID_OPTION',
      'UNKNOWN_OPTION',
      'UNKNOWN_DEPLOYMENT',
    ]);
  },
);

test('cancelling takes a waiting call out of its batch', { tag: ANY_BACKEND }, async ({ tab }) => {
  const { codes, sizes } = await tab.page.evaluate(async () => {
    const adder = window.tabserve.getHandle('adder');
    const before = window.tabserve.batches('adder').at(-1)?.batchIndex ?? -1;
    const responses = [0, 1, 2].map((number) => adder.remote(number));
    responses[1]?.cancel();
    const outcomes = await Promise.allSettled(responses.map((response) => response.result()));
    const batches = window.tabserve.batches('adder').filter(({ batchIndex }) => batchIndex > before);
    return {
      codes: outcomes.map((outcome) =>
        outcome.status === 'fulfilled' ? outcome.value : outcome.reason.code,
      ),
      sizes: batches.map(({ batchSize }) => batchSize),
    };
  });
  expect(codes).toEqual([1, 'REQUEST_CANCELLED', 3]);
  expect(sizes).toEqual([1, 1]);
});

test('the metrics carry the names of Ray Serve, and what it lacks', { tag: ANY_BACKEND }, async ({ tab }) => {
  await tab.page.evaluate(() => window.tabserve.getHandle('adder').remote(1).result());
  const text = await tab.page.evaluate(() => window.tabserve.metrics());
  for (const name of [
    'serve_batch_wait_time_ms',
    'serve_batch_execution_time_ms',
    'serve_batch_queue_length',
    'serve_batch_utilization_percent',
    'serve_actual_batch_size',
    'serve_batches_processed_total',
    'serve_request_queue_wait_time_ms',
  ]) {
    expect(text).toContain(`# TYPE ${name} `);
  }
  expect(text).toMatch(/serve_batches_cut_total\{.*reason="idle".*\} \d+/);
});

function relativeError(actual = Number.NaN, expected: number): number {
  return Math.abs(actual - expected) / Math.abs(expected);
}
