import { readFileSync } from 'node:fs';
import type { Browser } from 'playwright';

/** Resident bytes of each process of this type, such as `renderer` or `GPU`, by Linux' own count; 0 where it is unknown. */
export async function residentBytes(browser: Browser, type: string): Promise<readonly number[]> {
  const processes = await processesOf(browser, type);
  return processes.map(({ id }) => bytesOf(id, 'VmRSS'));
}

/**
 * The most memory that any page of a browser and its GPU process have had so far, in bytes, by Linux' own count; 0 where it is
 * unknown. A page's process holds its worker and the WASM heap too.
 */
export async function peakMemoryOf(
  browser: Browser,
): Promise<{ readonly page: number; readonly gpu: number }> {
  const peakOf = async (type: string): Promise<number> =>
    Math.max(0, ...(await processesOf(browser, type)).map(({ id }) => bytesOf(id, 'VmHWM')));
  return { page: await peakOf('renderer'), gpu: await peakOf('GPU') };
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

function bytesOf(pid: number, field: 'VmRSS' | 'VmHWM'): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return 1024 * Number(new RegExp(`^${field}:\\s*(\\d+)`, 'm').exec(status)?.[1] ?? 0);
  } catch {
    return 0;
  }
}
