import type { Page } from 'playwright/test';

import { expectReferenceTokens } from './support/expect-reference.ts';
import { ANY_BACKEND, expect, test } from './support/test.ts';

const FACTORY = /\/ort-factory-[^/]*\.js$/;

test(
  "WASM keeps the K/V cache in onnxruntime's own memory, and answers as before where that can't be had",
  { tag: ANY_BACKEND },
  async ({ ownTab, context }) => {
    await ownTab.open('?backend=wasm');
    await expectReferenceTokens(ownTab);
    expect(await hasOrtMemory(ownTab.page)).toBe(true);

    await context.route(FACTORY, (route) =>
      route.fulfill({ contentType: 'text/javascript', body: 'export const url = import.meta.url;' }),
    );
    await ownTab.open('?backend=wasm');
    await expectReferenceTokens(ownTab);
    expect(await hasOrtMemory(ownTab.page)).toBe(false);
  },
);

/** Whether a worker of the page knows the memory of onnxruntime-web. */
async function hasOrtMemory(page: Page): Promise<boolean> {
  const answers = page.workers().map((worker) =>
    worker.evaluate(async (pattern) => {
      const names = performance.getEntriesByType('resource').map(({ name }) => name);
      const url = names.find((name) => new RegExp(pattern).test(name));
      if (url === undefined) return false;
      const { made } = await import(url);
      return made?.module !== undefined;
    }, FACTORY.source),
  );
  return (await Promise.all(answers)).includes(true);
}
