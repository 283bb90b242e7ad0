import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BrowserContext, Page } from 'playwright/test';

import { startServer } from '../bridge/server.ts';
import { codeBlocksFor } from '../tools/documents/code-blocks.ts';
import { writeServiceWorker } from '../tools/site/write-service-worker.ts';
import { installRecorder } from './support/recorder.ts';
import { greedyTokenIds, reference, withoutEnd } from './support/reference.ts';
import { serveFolders, type ServedFolders } from './support/serve-folders.ts';
import { Tab, type Backend } from './support/tab.ts';
import { ANY_BACKEND, expect, test as base } from './support/test.ts';

// The built page where nothing but its files is served.

const PATH = '/some/path/';
const NUM_PROMPTS = 9;
const NEW_TITLE = 'The next version';

interface Fixtures {
  /** A copy of the built page, for a test to change. */
  readonly folder: string;
  readonly host: ServedFolders;
}

const test = base.extend<Fixtures>({
  // oxlint-disable-next-line no-empty-pattern -- Playwright reads the names of what a fixture needs here
  folder: async ({}, provide) => {
    const folder = await mkdtemp(join(tmpdir(), 'tabserve-site-'));
    await cp(new URL('../dist', import.meta.url), folder, { recursive: true });
    await provide(folder);
    await rm(folder, { recursive: true });
  },
  host: async ({ folder }, provide) => {
    const host = await serveFolders([folder], undefined, PATH);
    await provide(host);
    await host.close();
  },
});

test.describe('a static site', { tag: ANY_BACKEND }, () => {
  test('runs isolated in a folder of a host without headers, offers a new version to all tabs, and runs offline', async ({
    context,
    folder,
    host,
    backend,
  }) => {
    const first = await open(context, host, backend);
    await expectNineTexts(first);
    const oldTitle = await first.page.title();
    await publishNextVersion(folder);
    const second = await open(context, host, backend);

    await test.step('a new version is loaded in all tabs once it is accepted', async () => {
      const offers = [first, second].map(({ page }) => page.getByText('A new version is ready.'));
      // Without the second tab, the first one checks for new versions only once an hour.
      for (const offer of offers) await expect(offer).toBeVisible();
      expect(await second.page.title(), 'the page before the offer is accepted').toContain(oldTitle);
      await first.page.getByRole('button', { name: 'Reload 2 tabs' }).click();
      for (const { page } of [first, second]) {
        await expect(page).toHaveTitle(new RegExp(NEW_TITLE));
        await whenIsolated(page);
        await expect(page.getByText('A new version is ready.')).toHaveCount(0);
      }
      await whenKept(first.page, backend);
    });
    expect(host.failures, 'requests without an answer').toEqual([]);
    await host.close();

    await test.step('offline, a tab takes over and ends what runs', async () => {
      const { role } = await first.status();
      const [leader, other] = role === 'leader' ? [first, second] : [second, first];
      await other.begin(requests());
      await leader.page.close();
      expectReferenceTexts((await other.outcomesOfBegun()).map(({ value }) => value?.tokenIds ?? []));
      await other.page.close();
    });

    await test.step('offline, a new tab serves', async () => {
      const third = await open(context, host, backend);
      await expectNineTexts(third);
      await third.page.getByRole('tab', { name: 'Chat' }).click();
      await expect(third.page.getByRole('textbox', { name: 'Message' })).toBeVisible();
      expect(third.errors, 'errors on the console').toEqual([]);
    });
    expect([...first.errors, ...second.errors], 'errors on the console').toEqual([]);
  });

  test('leaves the origin to a bridge that is started there later', async ({ context, folder, backend }) => {
    const host = await serveFolders([folder]);
    const tab = await open(context, host, backend);
    await whenKept(tab.page, backend);
    await host.close();
    const server = await startServer({ host: 'localhost', port: host.port, root: folder });
    try {
      const [documented] = codeBlocksFor('site');
      const script = await tab.page.request.get(`${server.url}/${documented?.argument}`);
      expect(await script.text(), 'it sends what a static host has to publish').toBe(documented?.code);
      const offer = tab.page.getByRole('button', { name: 'Reload', exact: true });
      // A click would wait for a button that is gone when the page has loaded again by itself.
      await tab.page.addLocatorHandler(offer, () =>
        offer
          .evaluateAll((buttons) => {
            for (const button of buttons) button.dispatchEvent(new MouseEvent('click', { bubbles: true }));
          })
          // The page may load again meanwhile.
          .catch(() => {}),
      );
      await tab.page.goto(server.url);
      await expect(tab.page.locator('meta[name="tabserve-service-worker"]')).toHaveCount(0);
      await tab.page.waitForFunction(() => 'tabserve' in window);
      await tab.ready();
      await expect.poll(() => tab.page.evaluate(() => caches.keys())).toEqual([]);
      const registered = tab.page.evaluate(
        async () => (await navigator.serviceWorker.getRegistrations()).length,
      );
      expect(await registered).toBe(0);
    } finally {
      await server.close();
    }
  });
});

/** Resolves once the model can run, after the one reload that isolates the page. */
async function open(context: BrowserContext, { url }: ServedFolders, backend: Backend): Promise<Tab> {
  const tab = new Tab(context, await context.newPage());
  await tab.page.goto(`${url}?backend=${backend}`);
  await whenIsolated(tab.page);
  await tab.ready();
  return tab;
}

async function whenIsolated(page: Page): Promise<void> {
  await page.waitForFunction(() => crossOriginIsolated && 'tabserve' in window);
  await page.evaluate(installRecorder);
}

/** Resolves once all that the page needs offline is stored: the model, and on WebGPU the build of the runtime. */
async function whenKept(page: Page, backend: Backend): Promise<void> {
  const runtime = backend === 'webgpu' ? ['wasm'] : [];
  await expect.poll(() => page.evaluate(listKept)).toEqual(['model.onnx', 'model.safetensors', ...runtime]);
}

/** Runs in the page. */
async function listKept(): Promise<readonly string[]> {
  const names = await caches.keys();
  const keys = await Promise.all(names.map(async (name) => (await caches.open(name)).keys()));
  const files = keys.flat().map(({ url }) => new URL(url).pathname.split('/').at(-1) ?? '');
  return [
    ...files.filter((file) => file === 'model.safetensors' || file === 'model.onnx'),
    ...files.filter((file) => file.endsWith('.wasm')).map(() => 'wasm'),
  ].toSorted();
}

async function publishNextVersion(folder: string): Promise<void> {
  const file = join(folder, 'index.html');
  const page = await readFile(file, 'utf8');
  await writeFile(file, page.replace(/<title>.*<\/title>/, `<title>${NEW_TITLE}</title>`));
  await writeServiceWorker(folder);
}

function requests() {
  return reference.prompts
    .slice(0, NUM_PROMPTS)
    .map(({ prompt }) => ({ prompt, options: { temperature: 0, maxNewTokens: 24 } }));
}

/** In batches of eight. */
async function expectNineTexts(tab: Tab): Promise<void> {
  const results = await tab.generateAll(requests());
  expectReferenceTexts(results.map(({ tokenIds }) => tokenIds));
  const steps = await tab.steps('decode');
  expect(Math.max(...steps.map(({ batchSize }) => batchSize))).toBe(8);
}

function expectReferenceTexts(texts: readonly (readonly number[])[]): void {
  expect(texts.map(withoutEnd)).toEqual(
    reference.prompts.slice(0, NUM_PROMPTS).map((entry) => greedyTokenIds(entry, 24)),
  );
}
