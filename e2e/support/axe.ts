import axe from 'axe-core';
import type { Page } from 'playwright/test';

const { source } = axe;

declare global {
  interface Window {
    axe: typeof axe;
  }
}

/** Violations of all of axe's rules in the page's present state, one line each. */
export async function axeViolations(page: Page): Promise<string[]> {
  const hasAxe = await page.evaluate(() => 'axe' in window);
  // The page's policy allows no inline script: the debugger evaluates it.
  if (!hasAxe) await page.evaluate(source);
  const { violations } = await page.evaluate(() => {
    // Wait for color transitions: in between, the contrast is that of neither color.
    for (const animation of document.getAnimations())
      if (animation.effect?.getComputedTiming().endTime !== Infinity) animation.finish();
    return window.axe.run();
  });
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(
      ({ target, failureSummary }) => `${id}: ${help} at ${target.join(' ')}: ${failureSummary ?? ''}`,
    ),
  );
}
