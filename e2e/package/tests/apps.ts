import type { Page } from 'playwright/test';

import { someOf } from '../../support/seeded-random.ts';
import { serveFolders } from '../../support/serve-folders.ts';
import { expect, expectTexts, statusOf, test, type AppWindow } from '../app-page.ts';
import { appOf, type AppParts } from '../app.ts';
import { buildWithVite, servePlainPage, TOOLS, TOOLS_OF_ONE_FILE } from '../tools.ts';

test.describe('an app answers with its own worker and its own deployment, in', () => {
  for (const [tool, serve] of Object.entries(TOOLS)) {
    test(tool, async ({ place, serveApp, openTab }) => {
      const page = await openTab(await serveApp(serve(place)));
      await expectTexts(page, [0, 1, 2]);
      expect(await shout(page)).toBe('MINE');
      expect((await statusOf(page)).role).toBe('leader');
    });
  }
});

test.describe('the first lines of the document stream a text, in', () => {
  for (const [tool, serve] of someOf(Object.entries(TOOLS_OF_ONE_FILE), 1)) {
    test(tool, async ({ place, serveApp, openTab }) => {
      const page = await openTab(await serveApp(serve(place)));
      await expect(page.locator('body')).toHaveText(/\w.{40}/);
      await expectTexts(page, [0]);
    });
  }
});

/** Code that comes on demand must not wait for the module that awaits an answer. */
const AT_A_SERVER: AppParts = {
  app: `import { connect } from 'tabserve';

const serve = await connect({ server: location.origin });
for await (const { text } of serve.generate('Once')) document.body.append(text);
`,
};

const chunk = (choice: object) =>
  `data: ${JSON.stringify({ id: '1', object: 'text_completion', created: 1, model: 'm', choices: [choice] })}\n\n`;

test('an app whose first module awaits the answer of a server gets it, as Vite builds it', async ({
  place,
  serveApp,
  page,
}) => {
  await page.route('**/v1/models', (route) =>
    route.fulfill({ json: { object: 'list', data: [{ id: 'm' }] } }),
  );
  await page.route('**/v1/completions', (route) =>
    route.fulfill({
      contentType: 'text/event-stream',
      body: `${chunk({ index: 0, text: ' upon a time', finish_reason: null })}${chunk({ index: 0, text: '', finish_reason: 'stop' })}data: [DONE]\n\n`,
    }),
  );
  const folder = buildWithVite(place, AT_A_SERVER, {});
  await page.goto(await serveApp(folder.then((root) => serveFolders([root]))));
  await expect(page.locator('body')).toHaveText(/upon a time/, { timeout: 20_000 });
});

/** Files of the embedded model, as if their user had picked them. Those of `?again` have nothing but zeros in them. */
const PICKED = `model: await Promise.all(
    ['config.json', 'generation_config.json', 'model.safetensors', 'tokenizer.json', 'tokenizer_config.json'].map(
      async (name) => {
        const answer = await fetch('/node_modules/tabserve/dist/models/storyteller/' + name);
        const bytes = await answer.arrayBuffer();
        const content = query.has('again') ? new Uint8Array(bytes.byteLength) : bytes;
        return new File([content], name, { lastModified: 1 });
      },
    ),
  ),`;

test('an app begins with files that its user has picked, and reads their weights once', async ({
  place,
  serveApp,
  openTab,
}) => {
  const url = await serveApp(servePlainPage(place, {}, appOf(PICKED)));
  for (const address of [url, `${url}?again`]) {
    const page = await openTab(address);
    await expectTexts(page, [0, 1]);
    expect((await statusOf(page)).model?.id).toBe('files');
    await page.close();
  }
});

test('two apps of one origin do not meet', async ({ place, serveApp, openTab }) => {
  const url = await serveApp(servePlainPage(place));
  const pages = [await openTab(`${url}?name=shop`), await openTab(url)];
  for (const page of pages) {
    await expectTexts(page, [0]);
    expect(await statusOf(page)).toMatchObject({ role: 'leader', numTabs: 1 });
  }
});

test('a tab that may not lead follows, and waits while nobody leads', async ({
  place,
  serveApp,
  openTab,
}) => {
  const url = await serveApp(servePlainPage(place));
  const popup = await openTab(`${url}?follows`);
  await expect.poll(async () => (await statusOf(popup)).waitReason).toContain('No tab leads');
  const first = expectTexts(popup, [0]);
  const leader = await openTab(url);
  await first;
  expect(await statusOf(popup)).toMatchObject({ state: 'ready', role: 'follower', waitReason: '' });

  await leader.close();
  await expect.poll(async () => (await statusOf(popup)).waitReason).toContain('No tab leads');
  expect(await statusOf(popup)).toMatchObject({ state: 'loading', isHandover: true });
  const second = expectTexts(popup, [1, 2]);
  await openTab(url);
  await second;
  expect(await statusOf(popup)).toMatchObject({ state: 'ready', role: 'follower', numTabs: 2 });
});

/** Calls the app's own deployment. */
function shout(page: Page): Promise<string> {
  return page.evaluate(() => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the app's script has set it
    const { serve } = window as unknown as AppWindow;
    return serve.getHandle('upper-case').remote('mine').result();
  });
}
