import { readFileSync } from 'node:fs';
import type { Browser } from 'playwright';

/** Resident bytes of each process of this type, such as `renderer` or `GPU`, by Linux' own count; 0 where it is unknown. */
export async function residentBytes(browser: Browser, type: string): Promise<readonly number[]> {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  await session.detach();
  return processInfo.filter((process) => process.type === type).map(({ id }) => residentBytesOf(id));
}

function residentBytesOf(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return 1024 * Number(/^VmRSS:\s*(\d+)/m.exec(status)?.[1] ?? 0);
  } catch {
    return 0;
  }
}
