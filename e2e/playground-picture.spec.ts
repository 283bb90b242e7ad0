import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright/test';

import { fontsInUse, SCREENSHOTS, stillSelectors } from './support/screenshots.ts';
import { ANY_BACKEND, expect, test } from './support/test.ts';
import type { Tab } from './support/tab.ts';

// The README's picture of two tabs at work. `npm run write -- picture` draws it. The test checks that it shows the current page.

const PICTURE = fileURLToPath(new URL('../.github/page.png', import.meta.url));

test('the README’s picture shows the page as it is', { tag: ANY_BACKEND }, async ({ site }, info) => {
  const isDrawing = info.config.updateSnapshots === 'all' || info.config.updateSnapshots === 'changed';
  await site.openReady(2);
  const [leader, [follower]] = [await site.leader(), await site.followers()];
  if (!follower) throw new Error('No second tab');
  const { page } = leader;
  await page.bringToFront();
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize({ width: 1280, height: 800 });
  // Taken in the middle of a run, in which both tabs have their part.
  await begin(follower, isDrawing ? 4 : 1);
  await page.locator('.run-button').click();
  await expect(page.locator('[data-owner="this tab"]').first()).toBeVisible();
  if (isDrawing) await leader.whenStreamed(150);
  const shown = await page.screenshot({ caret: 'hide' });
  if (isDrawing) {
    await writeFile(PICTURE, shown);
  } else if (existsSync(`${SCREENSHOTS}/${await page.evaluate(fontsInUse)}`)) {
    const share = await shareOfOtherPixels(page, shown, await readFile(PICTURE));
    expect(share, 'of what does not move, pixels that differ').toBeLessThan(0.005);
  }
});

function begin(tab: Tab, numRequests: number): Promise<void> {
  return tab.begin(
    Array.from({ length: numRequests }, (_, request) => ({
      prompt: 'Once upon a time, there was',
      options: { maxNewTokens: 400, ignoreEos: true, temperature: 0.8, seed: request },
    })),
  );
}

/** Without the places whose contents differ from run to run. */
async function shareOfOtherPixels(page: Page, one: Buffer, other: Buffer): Promise<number> {
  const pictures = [one, other].map((picture) => picture.toString('base64'));
  const moving = `${await stillSelectors()}, .run, .slots-body, .chart-body, .figures-time`;
  return page.evaluate(comparePictures, [pictures, moving] as const);
}

/** Runs in the page. */
async function comparePictures([pictures, moving]: readonly [readonly string[], string]): Promise<number> {
  const boxes = [...document.querySelectorAll(moving)].map((element) => element.getBoundingClientRect());
  const [one, other] = await Promise.all(
    pictures.map(async (picture) => {
      const bytes = Uint8Array.from(atob(picture), (character) => character.codePointAt(0) ?? 0);
      const bitmap = await createImageBitmap(new Blob([bytes]));
      const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext('2d');
      if (!context) throw new Error('An offscreen canvas has a 2D context.');
      context.drawImage(bitmap, 0, 0);
      for (const { x, y, width, height } of boxes) context.clearRect(x - 1, y - 1, width + 2, height + 2);
      return context.getImageData(0, 0, bitmap.width, bitmap.height);
    }),
  );
  if (!one || !other || one.width !== other.width || one.height !== other.height) return 1;
  const numOther = one.data.filter((value, index) => Math.abs(value - (other.data[index] ?? 0)) > 32).length;
  return numOther / one.data.length;
}
