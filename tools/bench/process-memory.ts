import { readFileSync } from 'node:fs';
import type { Browser, Page } from 'playwright';

const SPIN_MS = 100;
/** Between the two readings the page may compute a little. */
const TOLERANCE_S = 0.03;

/** Resident bytes of each process of this type, such as `renderer` or `GPU`, by Linux' own count; 0 where it is unknown. */
export function residentBytes(browser: Browser, type: string): Promise<readonly number[]> {
  return bytesOf(browser, type, 'VmRSS');
}

/** The most that each has had so far. A page's process holds its worker and the WASM heap too. */
export function peakBytes(browser: Browser, type: string): Promise<readonly number[]> {
  return bytesOf(browser, type, 'VmHWM');
}

/** The CPU time that a browser's living pages have taken, in ms. On a busy machine it says more than a clock. */
export async function rendererCpuMs(browser: Browser): Promise<number> {
  const processes = await processesOf(browser, 'renderer');
  return processes.reduce((total, { cpuTime }) => total + 1000 * cpuTime, 0);
}

async function processesOf(browser: Browser, wanted: string) {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  await session.detach();
  return processInfo.filter(({ type }) => type === wanted);
}

async function bytesOf(browser: Browser, type: string, field: 'VmRSS' | 'VmHWM'): Promise<readonly number[]> {
  const processes = await processesOf(browser, type);
  return processes.map(({ id }) => bytesOfProcess(id, field));
}

/** As `residentBytes` and `peakBytes`, of one process. */
export function bytesOfProcess(id: number, field: 'VmRSS' | 'VmHWM'): number {
  try {
    const status = readFileSync(`/proc/${id}/status`, 'utf8');
    return 1024 * Number(new RegExp(`^${field}:\\s*(\\d+)`, 'm').exec(status)?.[1] ?? 0);
  } catch {
    return 0;
  }
}

/** The process ID of a page's renderer: the one that has used as much CPU time as the page says, again and again. */
export async function rendererOf(page: Page): Promise<number> {
  const browser = page.context().browser();
  if (!browser) throw new Error('The page has no browser.');
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable');
  let ids: readonly number[] = [];
  while (ids.length !== 1) {
    await page.evaluate((spinMs) => {
      const endMs = performance.now() + spinMs;
      while (performance.now() < endMs);
    }, SPIN_MS);
    const { metrics } = await session.send('Performance.getMetrics');
    const usedS = metrics.find(({ name }) => name === 'ProcessTime')?.value ?? 0;
    const alike = (await processesOf(browser, 'renderer'))
      .filter(({ cpuTime }) => Math.abs(cpuTime - usedS) <= TOLERANCE_S)
      .map(({ id }) => id);
    const still = ids.filter((id) => alike.includes(id));
    ids = still.length > 0 ? still : alike;
  }
  await session.detach();
  return Number(ids[0]);
}
