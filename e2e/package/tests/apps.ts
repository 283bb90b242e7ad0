import { expect, expectTexts, statusOf, test, type AppWindow } from '../app-page.ts';
import { servePlainPage, TOOLS, TOOLS_OF_ONE_FILE } from '../tools.ts';

test.describe('two tabs batch in one worker and survive the loss of the leader, in', () => {
  for (const [tool, serve] of Object.entries(TOOLS)) {
    test(tool, async ({ place, serveApp, openTab }) => {
      const url = await serveApp(serve(place));
      const first = await openTab(url);
      const second = await openTab(url);
      await Promise.all([expectTexts(first, [0, 2, 4, 6, 8]), expectTexts(second, [1, 3, 5, 7])]);
      const [largest, shouted] = await second.evaluate(async () => {
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the app's script has set it
        const { serve: client } = window as unknown as AppWindow;
        const sizes = client.batches('text-generator').map(({ batchSize }) => batchSize);
        return [Math.max(...sizes), await client.getHandle('upper-case').remote('mine').result()];
      });
      expect([largest, shouted]).toEqual([8, 'MINE']);
      expect([(await statusOf(first)).role, (await statusOf(second)).role]).toEqual(['leader', 'follower']);
      const continued = expectTexts(second, [0, 1, 2]);
      await first.close();
      await continued;
      expect((await statusOf(second)).role).toBe('leader');
    });
  }
});

test.describe('the first lines of the document stream a text, in both tabs and after the leader, in', () => {
  for (const [tool, serve] of Object.entries(TOOLS_OF_ONE_FILE)) {
    test(tool, async ({ place, serveApp, openTab }) => {
      const url = await serveApp(serve(place));
      const first = await openTab(url);
      await expect(first.locator('body')).toHaveText(/\w.{40}/);
      const second = await openTab(url);
      await expect(second.locator('body')).toHaveText(/\w.{40}/);
      expect((await statusOf(second)).role).toBe('follower');
      const continued = expectTexts(second, [0, 1, 2]);
      await first.close();
      await continued;
      expect((await statusOf(second)).role).toBe('leader');
    });
  }
});

test('two apps of one origin do not meet', async ({ place, serveApp, openTab }) => {
  const url = await serveApp(servePlainPage(place));
  const pages = [await openTab(`${url}?name=shop`), await openTab(`${url}?name=blog`), await openTab(url)];
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
