import axe from 'axe-core';
import { expect, type Locator, type Page } from 'playwright/test';

const { source } = axe;

declare global {
  interface Window {
    axe: typeof axe;
  }
}

/** Axe's rules about colors: only their verdict can differ in the dark. */
const COLORS: axe.RunOptions = { runOnly: ['color-contrast', 'link-in-text-block'] };

/** As `axeViolations`, light and dark. */
export async function expectNoViolations(part: Page | Locator, what = 'the page'): Promise<void> {
  const page = 'page' in part ? part.page() : part;
  for (const [colorScheme, rules] of [['light'], ['dark', COLORS]] as const) {
    await page.emulateMedia({ colorScheme });
    expect(await axeViolations(part, rules), `${what}, ${colorScheme}`).toEqual([]);
  }
  await page.emulateMedia({ colorScheme: null });
}

/** Violations of axe's rules, all of them by default, in the present state of the page or of a part, one line each. */
export async function axeViolations(part: Page | Locator, rules: axe.RunOptions = {}): Promise<string[]> {
  const root = 'page' in part ? part : part.locator('html');
  const hasAxe = await root.evaluate(() => 'axe' in window);
  // The page's policy allows no inline script: the debugger evaluates it.
  if (!hasAxe) await root.page().evaluate(source);
  const { violations } = await root.evaluate((element, options) => window.axe.run(element, options), rules);
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(
      ({ target, failureSummary }) => `${id}: ${help} at ${target.join(' ')}: ${failureSummary ?? ''}`,
    ),
  );
}
