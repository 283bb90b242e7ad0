import axe from 'axe-core';
import { expect, type Page } from 'playwright/test';

const { source } = axe;

declare global {
  interface Window {
    axe: typeof axe;
  }
}

/** Axe's rules about colors: only their verdict can differ in the dark. */
const COLORS: axe.RunOptions = { runOnly: ['color-contrast', 'link-in-text-block'] };

export async function expectNoViolations(page: Page, what = 'the page'): Promise<void> {
  for (const [colorScheme, rules] of [['light'], ['dark', COLORS]] as const) {
    await page.emulateMedia({ colorScheme });
    expect(await axeViolations(page, rules), `${what}, ${colorScheme}`).toEqual([]);
  }
  await page.emulateMedia({ colorScheme: null });
}

/** Violations of axe's rules, all of them by default, in the page's present state, one line each. */
export async function axeViolations(page: Page, rules: axe.RunOptions = {}): Promise<string[]> {
  const hasAxe = await page.evaluate(() => 'axe' in window);
  // The page's policy allows no inline script: the debugger evaluates it.
  if (!hasAxe) await page.evaluate(source);
  const { violations } = await page.evaluate((options) => window.axe.run(options), rules);
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(
      ({ target, failureSummary }) => `${id}: ${help} at ${target.join(' ')}: ${failureSummary ?? ''}`,
    ),
  );
}
