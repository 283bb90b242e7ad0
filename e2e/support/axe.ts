import { createRequire } from 'node:module';
import type { Page } from 'playwright/test';

const SCRIPT = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

interface AxeResults {
  readonly violations: readonly {
    readonly id: string;
    readonly help: string;
    readonly nodes: readonly { readonly target: readonly unknown[]; readonly failureSummary: string }[];
  }[];
}

declare global {
  interface Window {
    axe: { run(): Promise<AxeResults> };
  }
}

/** What axe finds wrong with the page as it is now, one line each; with all its rules. */
export async function axeViolations(page: Page): Promise<string[]> {
  // Colours are judged where they have come to rest, not in a transition.
  const hasAxe = await page.evaluate(() => 'axe' in window);
  if (!hasAxe) await page.addScriptTag({ path: SCRIPT });
  const { violations } = await page.evaluate(() => window.axe.run());
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${help} at ${target.join(' ')}: ${failureSummary}`),
  );
}
