import { readFile } from 'node:fs/promises';

import { expect, test } from '../app-page.ts';
import { standInForHub } from '../hub-stand-in.ts';
import { serveEsbuildBuild } from '../tools.ts';

/** The documented code as it is, run by a click: a download waits for one. */
async function documentedApp(): Promise<string> {
  const text = await readFile(new URL('../../../docs/embedding.md', import.meta.url), 'utf8');
  const [, block = ''] = /## Chrome's Prompt API\n[^]*?```js[^\n]*\n([^]*?)```/.exec(text) ?? [];
  const [imports = '', code] = block.split('\n\n', 1).concat(block.slice(block.indexOf('\n\n')));
  return `${imports}
const showProgress = (loaded) => void (document.title = String(loaded));
const show = (text) => void document.body.append(text);
window.serve = true;
addEventListener('click', async () => {
${code}
document.body.dataset.state = 'done';
}, { once: true });`;
}

test("the Prompt API's documented code answers where the browser's own model is unavailable", async ({
  place,
  serveApp,
  openTab,
  context,
}) => {
  const close = await standInForHub(context);
  const page = await openTab(await serveApp(serveEsbuildBuild(place, await documentedApp())));
  const native = page.evaluate(() => Reflect.get(window, 'LanguageModel')?.availability() ?? 'unavailable');
  expect(await native, "the browser's own").toBe('unavailable');
  await page.mouse.click(1, 1);
  await expect(page.locator('[data-state=done]')).toHaveText(/[a-z ]{5}/);
  await expect(page).toHaveTitle('1');
  await close();
});
