import { requireEnvironment } from './support/environment.ts';
import { eosTokenId, reference } from './support/reference.ts';
import { openAdvanced, type TextRequest } from './support/tab.ts';
import { ANY_BACKEND, ANY_BACKEND_IN_SHORT, expect, IS_WHOLE, test } from './support/test.ts';
import type { ClientUpdate } from '../src/client/index.ts';
import type { GenerationOptions } from '../src/protocol/generation.ts';
import type { Browser } from 'playwright/test';

/** Tokens of a request that still runs when the page's next message arrives: WASM makes a thousand a second. */
const LASTING = 400;

/** For exact batch sizes: a prompt in pieces would be in fewer decode steps, by the speed of this machine. */
const WHOLE_PROMPTS = { prefillStallMs: Infinity } as const;

const POLICIES = ['off', 'static', 'continuous'] as const;

let isAdapterFound: Promise<boolean> | undefined;

// `npm run test:batching` runs on WASM alone where there is no adapter. All other tests on WebGPU fail there.
test.beforeEach(async ({ backend, browser }) => {
  const isMissing = backend === 'webgpu' && !(await (isAdapterFound ??= findAdapter(browser)));
  test.skip(isMissing, 'The browser has no WebGPU adapter.');
});

// Each test prefills its own requests only, whatever ran before it.
// Which text ends first is told by its length then: each step adds one token.
test.beforeEach(({ tab }) => tab.configure({ prefixCaching: false, promptLookup: false }));

test(
  'nine sample prompts sent by the button reach batch size 8, and every text starts with its prompt',
  { tag: ANY_BACKEND_IN_SHORT },
  async ({ tab }) => {
    const { page } = tab;
    await openAdvanced(tab.page);
    await page.getByRole('textbox', { name: 'Max new tokens' }).fill('8');
    await page.getByRole('button', { name: 'Run 9 prompts at once' }).click();
    const rows = page.getByRole('list', { name: 'Requests' }).locator('[data-request-id]');
    await expect(rows).toHaveCount(9);
    await expect(rows.and(page.locator('[data-status=finished]'))).toHaveCount(9);

    const texts = await rows.getByTestId('request-text').allTextContents();
    for (const { prompt } of reference.prompts) {
      const text = texts.find((candidate) => candidate.startsWith(prompt));
      expect(text?.length, `length of the text of "${prompt}"`).toBeGreaterThan(prompt.length);
    }
    const sizes = (await tab.steps('decode')).map(({ batchSize }) => batchSize);
    expect(Math.max(...sizes), `batch sizes ${sizes.join(' ')}`).toBe(8);

    await page.getByRole('textbox', { name: 'Max new tokens' }).fill('');
  },
);

test(
  "the engine's steps are the text generator's batches: size, kind, reason, wait and execution",
  {
    tag: ANY_BACKEND,
  },
  async ({ tab }) => {
    await tab.configure({ policy: 'static', maxBatchSize: 3, batchWaitTimeoutMs: 200 });
    await tab.whenIdle();
    const lastIndex = () =>
      tab.page.evaluate(() => window.tabserve.batches('text-generator').at(-1)?.batchIndex ?? -1);
    const numOfOthers = await lastIndex();
    await tab.generateAll(requestsOf(6, 6, 6, 6));
    // Steps arrive up to 100 ms after the texts.
    await expect.poll(lastIndex).toBeGreaterThan(numOfOthers);
    await tab.whenIdle();
    const numBefore = await lastIndex();
    await tab.generateAll(requestsOf(4));
    await expect.poll(lastIndex).toBeGreaterThan(numBefore);
    const batches = await tab.page.evaluate(
      (begin) => window.tabserve.batches('text-generator').filter(({ batchIndex }) => batchIndex > begin),
      numOfOthers,
    );
    expect(
      batches.every(
        ({ deployment, executionMs, waitMs }) =>
          deployment === 'text-generator' && executionMs > 0 && waitMs >= 0,
      ),
    ).toBe(true);
    expect(new Set(batches.map(({ kind }) => kind))).toEqual(new Set(['prefill', 'decode']));
    const whole = batches.filter(({ batchSize, kind }) => kind === 'decode' && batchSize === 3);
    expect(whole.map(({ reason }) => reason)).toEqual(whole.map(() => 'full'));
    expect(whole.length).toBeGreaterThan(0);
  },
);

test.describe('the policy', () => {
  // The engine is the same on both; engine.spec.ts runs each policy on WebGPU.
  test('off runs one request after the other', { tag: ANY_BACKEND }, async ({ tab }) => {
    await tab.configure({ policy: 'off' });
    await tab.generateAll(requestsOf(4, 3, 4));
    expect(sequenceOf(await tab.updates())).toBe(
      'started A, finished A, started B, finished B, started C, finished C',
    );
    const sizes = (await tab.steps('decode')).map(({ batchSize }) => batchSize);
    expect(new Set(sizes)).toEqual(new Set([1]));
  });

  test('static lets nobody join a running batch', { tag: ANY_BACKEND }, async ({ tab }) => {
    await tab.configure({ ...WHOLE_PROMPTS, policy: 'static', maxBatchSize: 3, batchWaitTimeoutMs: 500 });
    await tab.generateAll(requestsOf(3, 9, 6, 4, 4));
    expect(sequenceOf(await tab.updates())).toBe(
      'started A, started B, started C, ' +
        'finished A, finished C, finished B, ' +
        'started D, started E, finished D, finished E',
    );
    const sizes = (await tab.steps('decode')).map(({ batchSize }) => batchSize);
    expect(sizes).toEqual([3, 3, 2, 2, 2, 1, 1, 1, 2, 2, 2]);
  });

  test('continuous gives a free slot to the next at once', { tag: ANY_BACKEND_IN_SHORT }, async ({ tab }) => {
    await tab.configure({
      ...WHOLE_PROMPTS,
      policy: 'continuous',
      maxBatchSize: 3,
      batchWaitTimeoutMs: 500,
    });
    // The first text lasts until the last two requests have arrived.
    await tab.generateAll(requestsOf(23, 34, 26, 6, 4));
    expect(sequenceOf(await tab.updates())).toBe(
      'started A, started B, started C, ' +
        'finished A, started D, finished C, started E, finished D, finished E, finished B',
    );
    const sizes = (await tab.steps('decode')).map(({ batchSize }) => batchSize);
    expect(sizes).toEqual([...Array.from({ length: 27 }, () => 3), 2, 1, 1, 1, 1, 1]);
  });

  // On a GPU the trials of engine.spec.ts have this claim, under every policy too.
  test(
    'changes no text: the same seeds give the same texts under each, and alone',
    { tag: ANY_BACKEND },
    async ({ tab }) => {
      const requests = sampledRequests(4);
      const alone: string[] = [];
      for (const { prompt, options } of requests) alone.push((await tab.generate(prompt, options)).text);
      for (const policy of POLICIES) {
        await tab.configure({ policy });
        const results = await tab.generateAll(requests);
        expect(
          results.map(({ text }) => text),
          policy,
        ).toEqual(alone);
      }
    },
  );
});

test('a seed repeats its text, and other seeds give others', { tag: ANY_BACKEND }, async ({ tab }) => {
  const options: GenerationOptions = { temperature: 1.5, maxNewTokens: 12 };
  const prompt = 'Once upon a time,';
  const first = await tab.generate(prompt, options);
  const seeds = [0, 1, 2, 3, 4].map((offset) => (first.seed + offset) % 2 ** 32);
  const [again, ...others] = await tab.generateAll(
    seeds.map((seed) => ({ prompt, options: { ...options, seed } })),
  );
  expect(again?.text).toBe(first.text);
  // One of them may well be the same by chance.
  expect(new Set(others.map(({ text }) => text)).size, 'different texts').toBeGreaterThan(1);
});

test('the chunks of a response add up to its result', { tag: ANY_BACKEND }, async ({ tab }) => {
  const { chunks, result } = await tab.page.evaluate(async () => {
    const response = window.tabserve
      .getHandle('text-generator')
      .remote('My best talent is', { maxNewTokens: 12 });
    const received = [];
    for await (const chunk of response) received.push(chunk);
    return { chunks: received, result: await response.result() };
  });
  expect(chunks.map(({ text }) => text).join('')).toBe(result.generatedText);
  expect(chunks.flatMap(({ tokenIds }) => tokenIds)).toEqual(result.tokenIds);
  expect(result.usage.numOutputTokens).toBe(result.tokenIds.length);
});

test('a GPU has the next step before the tokens of the last are read back; a CPU computes one after the other', async ({
  tab,
  backend,
}) => {
  await tab.generateAll(requestsOf(8, 8));
  const steps = await tab.steps('decode');
  const numBehind = steps.filter(({ isBehind }) => isBehind).length;
  if (backend === 'webgpu') expect(numBehind).toBeGreaterThanOrEqual(5);
  else expect(numBehind).toBe(0);
});

test.describe('an idle engine', () => {
  test(
    'holds a partial batch for batchWaitTimeoutMs, so that later arrivals run with it',
    { tag: ANY_BACKEND },
    async ({ tab }) => {
      const batchWaitTimeoutMs = 1500;
      await tab.configure({ ...WHOLE_PROMPTS, batchWaitTimeoutMs });
      const queueWaits = await tab.page.evaluate(
        async ([first, second]) => {
          const generator = window.tabserve.getHandle('text-generator');
          const early = first && generator.remote(first.prompt, first.options);
          // A round trip to the worker: the first request has certainly arrived alone.
          await window.tabserve.configure('text-generator', {});
          const late = second && generator.remote(second.prompt, second.options);
          const results = await Promise.all([early?.result(), late?.result()]);
          return results.map((result) => result?.timings.queueWaitMs ?? 0);
        },
        requestsOf(5, 5),
      );
      expect(queueWaits[0]).toBeGreaterThanOrEqual(batchWaitTimeoutMs);
      const sizes = (await tab.steps('decode')).map(({ batchSize }) => batchSize);
      expect(sizes).toEqual([2, 2, 2, 2]);
    },
  );

  test('does not hold a batch that is full', { tag: ANY_BACKEND }, async ({ tab }) => {
    await tab.configure({ maxBatchSize: 2, batchWaitTimeoutMs: 3_600_000 });
    const results = await tab.generateAll(requestsOf(3, 3));
    expect(results).toHaveLength(2);
  });
});

test.describe('a knob turned while requests run', () => {
  test('lets waiting requests in when maxBatchSize grows', { tag: ANY_BACKEND }, async ({ tab }) => {
    await tab.configure({ maxBatchSize: 1 });
    await tab.page.evaluate(configureOnceRunning, {
      requests: requestsOf(LASTING, 3, 3),
      runningIndex: 0,
      maxBatchSize: 3,
    });
    expect(sequenceOf(await tab.updates())).toBe(
      'started A, started B, started C, finished B, finished C, finished A',
    );
  });

  test('lets running requests end when maxBatchSize shrinks', { tag: ANY_BACKEND }, async ({ tab }) => {
    const length = LASTING;
    // The third fills the batch, so that all three start in one.
    await tab.configure({ maxBatchSize: 3, batchWaitTimeoutMs: 3_600_000 });
    await tab.page.evaluate(configureOnceRunning, {
      requests: requestsOf(length, length, length, 2),
      runningIndex: 2,
      maxBatchSize: 1,
    });
    expect(sequenceOf(await tab.updates())).toBe(
      'started A, started B, started C, finished A, finished B, finished C, started D, finished D',
    );
  });
});

test.describe('cancelling', () => {
  test('frees the slot for the next and settles once', { tag: ANY_BACKEND }, async ({ tab }) => {
    await tab.configure({ maxBatchSize: 1 });
    const codes = await tab.page.evaluate(
      async (requests) => {
        const generator = window.tabserve.getHandle('text-generator');
        const [running, waiting] = requests.map(({ prompt, options }) => generator.remote(prompt, options));
        await running?.[Symbol.asyncIterator]().next();
        running?.cancel();
        running?.cancel();
        const code = await running?.result().catch((error: { code: string }) => error.code);
        await waiting?.result();
        running?.cancel();
        return [code, await running?.result().catch((error: { code: string }) => error.code)];
      },
      requestsOf(LASTING, 3),
    );
    expect(codes).toEqual(['REQUEST_CANCELLED', 'REQUEST_CANCELLED']);
    expect(sequenceOf(await tab.updates())).toBe('started A, failed A, started B, finished B');
  });

  test('by a signal removes a waiting request from the queue', { tag: ANY_BACKEND }, async ({ tab }) => {
    await tab.configure({ maxBatchSize: 1 });
    const code = await tab.page.evaluate(
      async ([first, second]) => {
        const generator = window.tabserve.getHandle('text-generator');
        const controller = new AbortController();
        const running = first && generator.remote(first.prompt, first.options);
        const waiting =
          second && generator.remote(second.prompt, { ...second.options, signal: controller.signal });
        await running?.[Symbol.asyncIterator]().next();
        controller.abort();
        const settled = await waiting?.result().catch((error: { code: string }) => error.code);
        await running?.result();
        return settled;
      },
      requestsOf(LASTING, 8),
    );
    expect(code).toBe('REQUEST_CANCELLED');
    expect(sequenceOf(await tab.updates())).toBe('started A, failed B, finished A');
  });
});

test(
  'requests beyond maxQueuedRequests are refused with BACK_PRESSURE, those before them are answered',
  { tag: ANY_BACKEND },
  async ({ tab }) => {
    // None starts before all have arrived.
    await tab.configure({ maxBatchSize: 8, maxQueuedRequests: 2, batchWaitTimeoutMs: 3_600_000 });
    const answers = tab.outcomesOf(requestsOf(4, 4, 4, 4));
    await tab.configure({ batchWaitTimeoutMs: 0 });
    const outcomes = await answers;
    const codes = outcomes.map(({ code }) => code ?? 'answered');
    expect(codes).toEqual(['answered', 'answered', 'BACK_PRESSURE', 'BACK_PRESSURE']);
    expect(outcomes.at(-1)?.message).toContain('max_queued_requests=2');
  },
);

test(
  'requests in random order, length and fate get the texts that they get alone',
  { tag: ANY_BACKEND },
  async ({ tab }) => {
    const numRounds = IS_WHOLE ? 12 : 1;
    for (let round = 0; round < numRounds; round++) {
      const plan = sampledRequests(9, round).map(({ prompt, options }, index) => {
        const isCancelled = index % 4 === round % 4;
        // A victim must not end before its cancellation reaches the worker.
        return { prompt, options: isCancelled ? { ...options, maxNewTokens: 100 } : options, isCancelled };
      });
      const together = await tab.page.evaluate(generateWithCancellations, plan);
      for (const [index, { prompt, options, isCancelled }] of plan.entries()) {
        if (isCancelled) expect(together[index]).toBe('REQUEST_CANCELLED');
        else expect(together[index]).toBe((await tab.generate(prompt, options)).text);
      }
    }
  },
);

/** Each with its own seed, temperature and length. */
function sampledRequests(
  count: number,
  round = 0,
): (TextRequest & { readonly options: GenerationOptions })[] {
  return reference.prompts.slice(0, count).map(({ prompt }, index) => ({
    prompt,
    options: {
      seed: 1000 * round + index,
      temperature: 0.7 + 0.1 * (index % 4),
      topK: index % 2 === 0 ? 40 : 0,
      topP: 0.95,
      maxNewTokens: 4 + ((5 * index + round) % 12),
    },
  }));
}

async function findAdapter(browser: Browser): Promise<boolean> {
  const page = await browser.newPage();
  // WebGPU needs a secure origin; the document itself doesn't matter.
  await page.goto(`${requireEnvironment().pageUrl}/third-party-licenses.txt`);
  const isFound = await page.evaluate(async () => Boolean(await navigator.gpu?.requestAdapter()));
  await page.close();
  return isFound;
}

interface ConfigurePlan {
  readonly requests: readonly TextRequest[];
  /** Index of the request whose first chunk is waited for. */
  readonly runningIndex: number;
  readonly maxBatchSize: number;
}

/** Runs in the page. */
async function configureOnceRunning({ requests, runningIndex, maxBatchSize }: ConfigurePlan): Promise<void> {
  const generator = window.tabserve.getHandle('text-generator');
  const responses = requests.map(({ prompt, options }) => generator.remote(prompt, options));
  await responses[runningIndex]?.[Symbol.asyncIterator]().next();
  await window.tabserve.configure('text-generator', { maxBatchSize });
  await Promise.all(responses.map((response) => response.result()));
}

/** Runs in the page: cancels a victim each time the first survivor gets a token. */
async function generateWithCancellations(
  plan: readonly (TextRequest & { readonly isCancelled: boolean })[],
): Promise<string[]> {
  const generator = window.tabserve.getHandle('text-generator');
  const responses = plan.map(({ prompt, options }) => generator.remote(prompt, options));
  const victims = responses.filter((_, index) => plan[index]?.isCancelled);
  const survivor = responses.find((_, index) => !plan[index]?.isCancelled);
  for await (const { tokenIds } of survivor ?? []) {
    if (tokenIds.length > 0) victims.shift()?.cancel();
  }
  for (const victim of victims) victim.cancel();
  return Promise.all(
    responses.map((response) =>
      response.result().then(
        ({ text }) => text,
        (error: { code: string }) => error.code,
      ),
    ),
  );
}

/** One greedy request per length, with the reference prompts in order. None of them ends before its length. */
function requestsOf(...lengths: readonly number[]): TextRequest[] {
  return lengths.map((maxNewTokens, index) => ({
    prompt: reference.prompts[index]?.prompt ?? '',
    options: { temperature: 0, maxNewTokens, logitBias: { [eosTokenId]: -100 } },
  }));
}

/** Starts and ends of requests in order, as `started A, finished A`. A is the first reference prompt. */
function sequenceOf(updates: readonly ClientUpdate[]): string {
  const letters = new Map<string, string>();
  const events = updates.flatMap((update) => {
    if (update.type === 'submitted') {
      const index = reference.prompts.findIndex(({ prompt }) => prompt === update.input);
      letters.set(update.requestId, 'ABCDEFGHI'[index] ?? '?');
    }
    if (['submitted', 'accepted', 'chunk'].includes(update.type)) return [];
    return [`${update.type} ${letters.get(update.requestId) ?? '?'}`];
  });
  return events.join(', ');
}
