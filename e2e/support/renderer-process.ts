import type { Page } from 'playwright/test';

const SPIN_MS = 100;
/** Between the two readings the page may compute a little. */
const TOLERANCE_S = 0.03;

/** The process ID of a page's renderer: the one that has used as much CPU time as the page says, again and again. */
export async function rendererOf(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  const browserSession = await page.context().browser()?.newBrowserCDPSession();
  if (!browserSession) throw new Error('The page has no browser.');
  await session.send('Performance.enable');
  let ids: readonly number[] | undefined;
  while (ids?.length !== 1) {
    await page.evaluate((spinMs) => {
      const endMs = performance.now() + spinMs;
      while (performance.now() < endMs);
    }, SPIN_MS);
    const { metrics } = await session.send('Performance.getMetrics');
    const { processInfo } = await browserSession.send('SystemInfo.getProcessInfo');
    const usedS = metrics.find(({ name }) => name === 'ProcessTime')?.value ?? 0;
    const alike = processInfo.filter(({ cpuTime }) => Math.abs(cpuTime - usedS) <= TOLERANCE_S);
    const known = ids?.length ? ids : alike.map(({ id }) => id);
    ids = alike.flatMap(({ id }) => (known.includes(id) ? [id] : []));
  }
  await session.detach();
  await browserSession.detach();
  const [id] = ids;
  if (id === undefined) throw new Error('The page has no process.');
  return id;
}

/**
 * Stops a page's process with its worker, as a system does that suspends it, and lets it run again after this time at the latest.
 * Returns a function that wakes it now.
 */
export function suspend(pid: number, maxMs: number): () => void {
  process.kill(pid, 'SIGSTOP');
  const wake = (): void => {
    clearTimeout(timer);
    try {
      process.kill(pid, 'SIGCONT');
    } catch {
      // A test that failed has closed the page.
    }
  };
  const timer = setTimeout(wake, maxMs);
  return wake;
}
