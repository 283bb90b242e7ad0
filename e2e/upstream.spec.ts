import type { BrowserContext, Locator } from 'playwright/test';

import { Bridge } from '../bridge/bridge.ts';
import { startServer } from '../bridge/server.ts';
import {
  countedText,
  startOpenAiServer,
  SERVED_MODEL,
  type OpenAiServer,
} from '../bridge/testing/openai-server.ts';
import { openAdvanced, Tab } from './support/tab.ts';
import { ANY_BACKEND, expect, test as base } from './support/test.ts';

const API_KEY = 'a-key-of-the-upstream';
const PROMPT = 'One, two,';

interface Upstream {
  readonly server: OpenAiServer;
  /** Address of the page that uses this upstream. */
  readonly pageUrl: string;
}

interface UpstreamFixtures {
  /** A page of all tests, without a count of what came before. */
  readonly asking: Tab;
  /** Opens a tab in a new profile. */
  readonly openTab: () => Promise<Tab>;
}

const test = base.extend<UpstreamFixtures, { upstream: Upstream; askingTab: Tab }>({
  upstream: [
    // oxlint-disable-next-line no-empty-pattern -- Playwright reads the names of what a fixture needs here
    async ({}, provide) => {
      const server = await startOpenAiServer();
      const root = new URL('../dist', import.meta.url).pathname;
      const upstream = { url: server.url, apiKey: API_KEY };
      let url = '';
      const mounted = new Bridge({ host: 'localhost', url: () => url, forwardTo: upstream });
      const bridge = await startServer({ host: 'localhost', port: 0, root, bridge: mounted });
      url = bridge.url;
      await provide({ server, pageUrl: bridge.url });
      await Promise.all([bridge.close(), server.close()]);
    },
    { scope: 'worker' },
  ],

  baseURL: async ({ upstream }, provide) => {
    upstream.server.fault = () => undefined;
    upstream.server.forget();
    await provide(upstream.pageUrl);
  },

  askingTab: [
    async ({ browser, upstream }, provide) => {
      const context = await browser.newContext({ baseURL: upstream.pageUrl });
      await provide(await openPage(context));
      await context.close();
    },
    { scope: 'worker' },
  ],

  asking: async ({ askingTab, upstream }, provide) => {
    upstream.server.fault = () => undefined;
    upstream.server.forget();
    await askingTab.forget();
    await askingTab.page.evaluate(() => {
      window.begun = [];
    });
    await provide(askingTab);
    expect(askingTab.errors, 'errors on the console').toEqual([]);
    expect(askingTab.foreignUrls, 'the bridge alone knows the upstream').toEqual([]);
  },

  openTab: async ({ context }, provide) => {
    await provide(() => openPage(context));
  },
});

async function openPage(context: BrowserContext): Promise<Tab> {
  const tab = new Tab(context, await context.newPage());
  await tab.open('');
  await tab.ready();
  return tab;
}

/** Whether nothing covers it. */
function isOnTop(locator: Locator): Promise<boolean> {
  return locator.evaluate((element) => {
    const { left, width, top, bottom } = element.getBoundingClientRect();
    return [top + 2, bottom - 2].every((y) => document.elementFromPoint(left + width / 2, y) === element);
  });
}

const requests = (count: number, maxNewTokens: number) =>
  Array.from({ length: count }, (_, index) => ({
    prompt: PROMPT,
    options: { seed: index, maxNewTokens },
  }));

test.describe('a page whose bridge has an upstream', { tag: ANY_BACKEND }, () => {
  test('streams from it by the same handle, loads no model, and says so', async ({
    upstream,
    asking: tab,
  }) => {
    const { chunks, result } = await tab.readStream(PROMPT, { seed: 3, maxNewTokens: 5 });
    expect(chunks.map(({ text, tokenIds }) => [text, tokenIds])).toEqual(
      [3, 4, 5, 6, 7].map((id) => [` ${id}`, [id]]),
    );
    expect(result).toMatchObject({
      text: PROMPT + countedText(3, 5),
      generatedText: countedText(3, 5),
      tokenIds: [3, 4, 5, 6, 7],
      finishReason: 'length',
      seed: 3,
      usage: { numPromptTokens: 5, numOutputTokens: 5 },
    });
    expect(result.timings.e2eMs).toBeGreaterThan(result.timings.ttftMs);

    const { backend, model, state } = await tab.status();
    expect([state, backend?.name, backend?.adapter, model?.id]).toEqual([
      'ready',
      'server',
      upstream.server.url,
      SERVED_MODEL,
    ]);
    await expect(await tab.openStatus()).toContainText(upstream.server.url);
    await expect(tab.page.getByRole('radio', { name: 'continuous' }), 'knobs that turn nothing').toHaveCount(
      0,
    );
    await expect(tab.page.getByRole('button', { name: 'Load lab' }), 'of policies').toHaveCount(0);
    await expect(tab.page.locator('[data-request-id]')).toHaveCount(1);
    await expect(tab.page.getByRole('button', { name: /^Trace/ }), 'of batches').toHaveCount(0);
    await expect(tab.page.getByRole('tab'), 'no views of a worker').toHaveText(['Text', 'Chat', 'Jobs']);
    expect(
      tab.requestedUrls.filter((url) => /model\.safetensors|\/ort[.-]|\/assets\/main-/.test(url)),
    ).toEqual([]);
    expect(await tab.page.content(), 'the key').not.toContain(API_KEY);
    expect(upstream.server.calls.map(({ authorization }) => authorization)).toEqual([`Bearer ${API_KEY}`]);
  });

  test('sends it a chat as messages, and gets the answer by the same handle', async ({
    upstream,
    asking: tab,
  }) => {
    const prompt = [{ role: 'user', content: 'Count.' }];
    const options = { seed: 3, chatTemplateArguments: { enable_thinking: false } };
    const outcomes = await tab.outcomesOf([
      { prompt, options },
      { prompt, options: { ...options, maxNewTokens: 2 } },
      { prompt: [{ role: 'user' }], options },
    ]);
    expect(outcomes).toMatchObject([
      {
        value: {
          text: countedText(3, 6),
          generatedText: countedText(3, 6),
          finishReason: 'length',
          usage: { numPromptTokens: 5, numCachedTokens: 4, numOutputTokens: 6 },
        },
      },
      { value: { text: countedText(3, 2), tokenIds: [3, 4] } },
      { code: 'INVALID_OPTION' },
    ]);
    expect(
      upstream.server.calls.map(({ path, body }) => [path, body['messages'], body['max_tokens']]),
    ).toEqual([
      ['/v1/chat/completions', prompt, undefined],
      ['/v1/chat/completions', prompt, 2],
    ]);
  });

  test('shows the Markdown of a chat: blocks that are finished stay, code can be copied, and a tag is text', async ({
    upstream,
    asking: { page },
  }) => {
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const [start, end] = [
      '**Two** lines:\n\nIn a file:\n\n```js\nlet a = 1;\n',
      'let b = 2;\n```\n\n<img src=x onerror=alert(1)>',
    ];
    upstream.server.says = [start, end];
    const letGo = upstream.server.hold(1);
    await page.getByRole('tab', { name: 'Chat' }).click();
    const message = page.getByRole('textbox', { name: 'Message to Chat 1' });
    await message.fill('Code?');
    await message.press('Enter');
    const answer = page.getByRole('listitem', { name: 'Chat 1', exact: true }).getByTestId('answer-text');
    const bold = answer.locator('p strong');
    await expect(bold).toHaveText('Two');
    await expect(answer.locator('pre')).toHaveText('let a = 1;');
    await bold.evaluate((element) => (element.dataset['was'] = 'drawn before'));
    letGo();
    await expect(answer).toContainText('<img src=x onerror=alert(1)>');
    await expect(answer.locator('img')).toHaveCount(0);
    await expect(bold, 'the same node').toHaveAttribute('data-was', 'drawn before');
    await answer.getByRole('button', { name: 'Copy the code' }).click();
    await expect(page.getByText('Code copied')).toBeVisible();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('let a = 1;\nlet b = 2;');
    await page.getByRole('tab', { name: 'Text' }).click();
  });

  test('cuts the Markdown of a chat that nests without end, and shows all of its text', async ({
    upstream,
    asking: { page },
  }) => {
    upstream.server.says = [...Array.from({ length: 40 }, () => '> '.repeat(100)), 'the end'];
    await page.getByRole('tab', { name: 'Chat' }).click();
    const message = page.getByRole('textbox', { name: 'Message to Chat 1' });
    await message.fill('Quote?');
    await message.press('Enter');
    const answer = page
      .getByRole('listitem', { name: 'Chat 1', exact: true })
      .getByTestId('answer-text')
      .last();
    await expect(answer).toContainText('> > the end');
    expect(await answer.locator('blockquote').count()).toBe(12);
    await page.getByRole('tab', { name: 'Text' }).click();
  });

  test('answers /v1/responses with its chats, so that nothing is stored there', async ({
    upstream,
    asking,
  }) => {
    const response = await asking.page.request.post('/v1/responses', {
      data: { input: 'Count.', instructions: 'From three.', seed: 3, max_output_tokens: 2 },
    });
    expect(await response.json()).toMatchObject({
      model: SERVED_MODEL,
      status: 'incomplete',
      output: [{ content: [{ text: countedText(3, 2) }] }],
      usage: { output_tokens: 2 },
    });
    expect(upstream.server.calls.map(({ path }) => path)).toEqual(['/v1/chat/completions']);
  });

  test("says the options in the upstream's words, and reads choices and logprobs back", async ({
    upstream,
    asking: tab,
  }) => {
    const { chunks, result } = await tab.readStream(PROMPT, {
      seed: 1,
      maxNewTokens: 2,
      n: 2,
      stop: 'END',
      logprobs: 1,
      temperature: 0.5,
      topK: 4,
      topP: 0.9,
      minP: 0.1,
      repetitionPenalty: 1.2,
      logitBias: { 9: -100 },
      priority: -3,
      echo: true,
    });
    expect(upstream.server.calls[0]?.body).toMatchObject({
      model: SERVED_MODEL,
      prompt: PROMPT,
      stream: true,
      seed: 1,
      max_tokens: 2,
      n: 2,
      stop: ['END'],
      logprobs: 1,
      temperature: 0.5,
      top_k: 4,
      top_p: 0.9,
      min_p: 0.1,
      repetition_penalty: 1.2,
      logit_bias: { 9: -100 },
      priority: -3,
    });
    expect(upstream.server.calls[0]?.body).not.toHaveProperty('echo');
    expect(result.choices.map(({ text }) => text)).toEqual([0, 1].map((i) => PROMPT + countedText(1, 2, i)));
    const textOf = (index: number) => chunks.flatMap((chunk) => (chunk.index === index ? chunk.text : []));
    expect([0, 1].map((index) => textOf(index).join(''))).toEqual(result.choices.map(({ text }) => text));
    expect(result.logprobs?.[0]).toEqual({
      tokenId: 1,
      logprob: -0.5,
      top: [{ tokenId: 1, logprob: -0.5 }],
    });
  });

  test('has four requests run there at once, so that another tab has room', async ({
    upstream,
    asking: tab,
  }) => {
    const release = upstream.server.hold(2);
    await tab.begin(requests(12, 4));
    await tab.whenStreamed(8);
    const second = await openPage(tab.page.context());
    await second.begin(requests(1, 4));
    await second.whenStreamed(2);
    expect(upstream.server.calls).toHaveLength(5);
    release();
    await second.outcomesOfBegun();
    await second.page.close();
    const outcomes = await tab.outcomesOfBegun();
    expect(outcomes.map(({ streamed }) => streamed.text)).toEqual(
      Array.from({ length: 12 }, (_, seed) => countedText(seed, 4)),
    );
  });

  test('takes a cancelled request back from it', async ({ upstream, asking: tab }) => {
    const release = upstream.server.hold(2);
    await tab.begin(requests(2, 4));
    await tab.whenStreamed(4);
    await tab.page.evaluate(() => window.begun?.[0]?.cancel());
    await expect.poll(() => upstream.server.calls.map(({ isAborted }) => isAborted)).toEqual([true, false]);
    release();
    const outcomes = await tab.outcomesOfBegun();
    expect(outcomes.map(({ code }) => code)).toEqual(['REQUEST_CANCELLED', undefined]);
  });

  test('runs a job over a file there, and says where its rows go', async ({ upstream, asking: tab }) => {
    const { page } = tab;
    await page.getByRole('tab', { name: 'Jobs' }).click();
    await expect(page.getByLabel('File', { exact: true })).toContainText('Its rows are sent to the server.');
    await expect(page.getByText('No job yet.')).toContainText('in this tab');
    await expect(page.getByRole('radio', { name: 'Embed' }), 'the server has no embedder').toHaveCount(0);
    const rows = 'word\n' + Array.from({ length: 70 }, (_, index) => `w${index}\n`).join('');
    await page.getByLabel('File of rows').setInputFiles({
      name: 'words.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from(rows),
    });
    await page.getByRole('textbox', { name: 'Prompt for each row' }).fill('Say {{word}}');
    const release = upstream.server.hold(2);
    await page.getByRole('button', { name: 'Run all rows' }).click();
    const tokens = page.getByRole('tabpanel', { name: 'Jobs' }).locator('[data-chart=tokens-chart]');
    await expect(tokens.locator('.readout-value').first()).toHaveText(/^[\d,.]+\/s$/);
    await expect(page.getByText('Rows and answers are kept in this tab')).toBeVisible();
    await page.getByRole('tab', { name: 'Text' }).click();
    const asksBeforeLeaving = () =>
      page.evaluate(() => !window.dispatchEvent(new Event('beforeunload', { cancelable: true })));
    expect(await asksBeforeLeaving(), 'the job ends with the tab').toBe(true);
    await page.getByRole('tab', { name: 'Jobs' }).click();
    release();
    await expect(page.getByText('Finished: 70 rows').first()).toBeVisible();
    await expect.poll(asksBeforeLeaving).toBe(false);
    expect(upstream.server.calls).toHaveLength(70);
    await page.getByRole('tab', { name: 'Text' }).click();
  });

  test('says on the first screen who generates; no field of a job and no button is covered', async ({
    upstream,
    openTab,
  }) => {
    const { page } = await openTab();
    await expect(page.getByText('A language model runs')).toContainText(`runs at ${upstream.server.url}.`);
    await page.getByRole('tab', { name: 'Jobs' }).click();
    const field = page.getByRole('textbox', { name: 'Temperature' });
    const button = page.getByRole('button', { name: 'Run all rows' });
    await page.setViewportSize({ width: 1280, height: 720 });
    await openAdvanced(page);
    await field.focus();
    await expect.poll(() => isOnTop(field)).toBe(true);
    await page.setViewportSize({ width: 390, height: 844 });
    await button.scrollIntoViewIfNeeded();
    await expect.poll(() => isOnTop(button)).toBe(true);
  });

  test('names what goes wrong there, each time with a remedy', async ({ upstream, asking: tab }) => {
    const faults = [
      { status: 429, headers: { 'Retry-After': '7' } },
      { status: 500 },
      { status: 401 },
      { status: 400 },
      { cutAfter: 1 },
      { breaksAfter: 1 },
    ];
    upstream.server.fault = ({ seed }) => faults[Number(seed)];
    const outcomes = await tab.outcomesOf(requests(faults.length, 3));
    expect(outcomes.map(({ code, message }) => [code, message])).toEqual([
      ['BACK_PRESSURE', expect.stringContaining('again in 7 s')],
      ['SERVER_UNAVAILABLE', expect.stringContaining('It is 500.')],
      ['SERVER_ACCESS_DENIED', expect.stringContaining('TABSERVE_UPSTREAM_API_KEY')],
      ['SERVER_REFUSED', expect.stringContaining('It is 400.')],
      ['SERVER_UNREACHABLE', expect.stringContaining(upstream.server.url)],
      ['SERVER_UNAVAILABLE', expect.stringContaining('The engine is dead.')],
    ]);
    expect(
      tab.errors.splice(0).map((line) => line.slice(0, 23)),
      'the browser names what is refused',
    ).toEqual(Array.from({ length: 4 }, () => 'Failed to load resource'));
    const refusals = await tab.page.evaluate(() =>
      Promise.all(
        [
          window.tabserve.configure('text-generator', { maxBatchSize: 2 }),
          window.tabserve.loadModel('tests/any'),
          window.tabserve.getHandle('text-generator').remote('').result(),
        ].map((call) => Promise.resolve(call).catch(({ code }: { code: string }) => code)),
      ),
    );
    expect(refusals).toEqual(['NOT_AT_SERVER', 'NOT_AT_SERVER', 'EMPTY_PROMPT']);
  });

  test('loses nothing when another tab is closed in the middle', async ({ upstream, openTab }) => {
    const first = await openTab();
    const second = await openTab();
    const release = upstream.server.hold(3);
    await first.begin(requests(2, 6));
    await second.begin(requests(2, 6));
    await Promise.all([first.whenStreamed(6), second.whenStreamed(6)]);
    await first.page.close();
    await expect
      .poll(() => upstream.server.calls.filter(({ isAborted }) => isAborted).length, 'those of that tab')
      .toBe(2);
    release();
    const outcomes = await second.outcomesOfBegun();
    expect(outcomes.map(({ value }) => value?.generatedText)).toEqual(
      Array.from({ length: 2 }, (_, seed) => countedText(seed, 6)),
    );
    expect((await second.updates()).map(({ type }) => type)).not.toContain('restarted');
  });
});

test(
  'an OpenAI client reaches the upstream through the bridge without any tab, and another site does not',
  { tag: ANY_BACKEND },
  async ({ upstream, request }) => {
    const body = { model: SERVED_MODEL, prompt: PROMPT, seed: 2, max_tokens: 3, n: 1, stream: true };
    const answer = await request.post('/v1/completions', { data: body });
    expect(await answer.text()).toMatch(/" 2"[^]*" 3"[^]*" 4"[^]*\[DONE\]/);
    expect(upstream.server.calls[0]?.authorization).toBe(`Bearer ${API_KEY}`);
    expect(await (await request.get('/v1/models')).text()).toContain(SERVED_MODEL);
    const foreign = await request.post('/v1/completions', {
      data: body,
      headers: { Origin: 'http://evil.example' },
    });
    expect(foreign.status()).toBe(403);
    expect((await request.get('/v1/models', { headers: { Host: 'evil.example' } })).status()).toBe(403);
    expect(upstream.server.calls).toHaveLength(1);
  },
);
