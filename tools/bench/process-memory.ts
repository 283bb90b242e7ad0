import { readFileSync } from 'node:fs';
import type { Browser } from 'playwright';

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
  return processes.map(({ id }) => {
    try {
      const status = readFileSync(`/proc/${id}/status`, 'utf8');
      return 1024 * Number(new RegExp(`^${field}:\\s*(\\d+)`, 'm').exec(status)?.[1] ?? 0);
    } catch {
      return 0;
    }
  });
}
