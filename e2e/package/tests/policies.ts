import type { Page } from 'playwright/test';

import { expect, expectTexts, failureOf, statusOf, test } from '../app-page.ts';
import { codeBlocksFor } from '../../../tools/documents/code-blocks.ts';
import { servePlainPage, serveViteBuild } from '../tools.ts';

const INLINE = "script-src 'self' 'unsafe-inline'";

test.describe('a clear error names the directive of a policy', () => {
  test('that forbids WebAssembly', async ({ place, serveApp, openTab }) => {
    const policy = `default-src 'self'; ${INLINE}`;
    const url = await serveApp(servePlainPage(place, { 'Content-Security-Policy': policy }));
    expect(await failureOf(await openTab(url))).toMatch(/^WASM_FORBIDDEN: .*'wasm-unsafe-eval'/);
  });

  test('that forbids the worker', async ({ place, serveApp, openTab }) => {
    const policy = `default-src 'self'; ${INLINE} 'wasm-unsafe-eval'; worker-src 'none'`;
    const url = await serveApp(servePlainPage(place, { 'Content-Security-Policy': policy }));
    expect(await failureOf(await openTab(url))).toMatch(/^WORKER_NOT_LOADED: .*worker-src 'self'/);
  });
});

test.describe('the documented policy is enough', () => {
  const page = "default-src 'none'; script-src 'self'; worker-src 'self'";

  test('for one thread', async ({ place, serveApp, openTab }) => {
    const worker = documentedPolicy();
    const url = await serveApp(
      serveViteBuild(place, (path) => ({
        'Content-Security-Policy': path.includes('my-worker') ? worker : page,
      })),
    );
    const tab = await openTab(url);
    await expectTexts(tab, [0, 1]);
    expect(await violationsOf(tab)).toEqual([]);
  });

  test('for several threads, in a page that is isolated', async ({ place, serveApp, openTab }) => {
    const worker = documentedPolicy();
    const url = await serveApp(
      serveViteBuild(place, (path) => ({
        'Content-Security-Policy': path.endsWith('.html') || path === '/' ? page : worker,
        'Cross-Origin-Opener-Policy': 'same-origin',
        'Cross-Origin-Embedder-Policy': 'require-corp',
      })),
    );
    const tab = await openTab(url);
    await expectTexts(tab, [0, 1]);
    expect(await tab.evaluate(() => crossOriginIsolated)).toBe(true);
    expect((await statusOf(tab)).backend?.adapter).toMatch(/[2-9]\d* threads/);
    expect(await violationsOf(tab)).toEqual([]);
  });
});

/** The documented policy of the worker's script. */
function documentedPolicy(): string {
  const [policy] = codeBlocksFor('policy');
  if (policy === undefined) throw new Error('No document names a policy.');
  return policy.code.trim();
}

async function violationsOf(tab: Page): Promise<readonly string[]> {
  return (await tab.consoleMessages()).flatMap((message) =>
    message.text().includes('Content Security Policy') ? [message.text()] : [],
  );
}
