import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright/test';

/** One folder for each set of fonts: pictures are compared where the fonts are those that they were drawn with. */
export const SCREENSHOTS = fileURLToPath(new URL('../screenshots', import.meta.url));

/** Keeps what differs from run to run from being drawn. */
const STILL_STYLE = new URL('still.css', import.meta.url);

/** Applies until the page closes. Uses a constructed style sheet, because the page's policy forbids style elements. */
export async function standStill(page: Page): Promise<void> {
  await page.evaluate(
    (css) => {
      if (document.adoptedStyleSheets.length > 0) return;
      const sheet = new CSSStyleSheet();
      sheet.replaceSync(css);
      document.adoptedStyleSheets = [sheet];
    },
    await readFile(STILL_STYLE, 'utf8'),
  );
}

/** Selectors of the elements that `standStill` hides. */
export async function stillSelectors(): Promise<string> {
  const style = await readFile(STILL_STYLE, 'utf8');
  return style
    .replaceAll(/\/\*.*?\*\//gs, '')
    .replace(/\{[^]*/, '')
    .trim();
}

/** Runs in the page: the width of a line in each of its fonts, which differs with the fonts of the machine. */
export function fontsInUse(): string {
  const context = document.createElement('canvas').getContext('2d');
  const widths = ['system-ui', 'ui-monospace, Consolas, monospace'].map((family) => {
    if (!context) return 0;
    context.font = `100px ${family}`;
    return Math.round(context.measureText('Tabserve 0123456789 ÄÖ').width);
  });
  return `fonts-${widths.join('-')}`;
}
