import { setTimeout as sleep } from 'node:timers/promises';

import type { Page } from 'playwright/test';

const SPIN_MS = 300;

/** The process ID of a page's renderer: the one whose CPU time grows while the page computes. The other pages have to be idle. */
export async function rendererOf(page: Page): Promise<number> {
  const browser = page.context().browser();
  if (!browser) throw new Error('The page has no browser.');
  const session = await browser.newBrowserCDPSession();
  const timesMs = async (): Promise<Map<number, number>> => {
    const { processInfo } = await session.send('SystemInfo.getProcessInfo');
    const renderers = processInfo.filter(({ type }) => type === 'renderer');
    return new Map(renderers.map(({ id, cpuTime }) => [id, cpuTime * 1000]));
  };
  const before = await timesMs();
  await page.evaluate((spinMs) => {
    const endMs = performance.now() + spinMs;
    while (performance.now() < endMs);
  }, SPIN_MS);
  const after = await timesMs();
  await session.detach();
  const grown = [...after].map(([id, ms]) => [id, ms - (before.get(id) ?? 0)] as const);
  const [id] = grown.reduce((most, each) => (each[1] > most[1] ? each : most));
  return id;
}

/**
 * Stops a page's process with its worker, as a system does that suspends it, and lets it run again after this time at the latest.
 * Returns a function that wakes it now.
 */
export function suspend(pid: number, maxMs: number): () => void {
  process.kill(pid, 'SIGSTOP');
  const wake = (): void => void process.kill(pid, 'SIGCONT');
  void sleep(maxMs, undefined, { ref: false }).then(wake, () => {});
  return wake;
}
