import { readdirSync, readFileSync } from 'node:fs';
import type { Browser } from 'playwright';

/** The most memory that any page of a browser and its GPU process have had so far, in bytes. */
interface PeakMemory {
  readonly page: number;
  readonly gpu: number;
}

/** By Linux' own count. */
export async function peakMemoryOf(browser: Browser): Promise<PeakMemory> {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  await session.detach();
  const peakOf = (wanted: string): number =>
    Math.max(0, ...processInfo.filter(({ type }) => type === wanted).map(({ id }) => peakOfProcess(id)));
  return { page: peakOf('renderer'), gpu: peakOf('GPU') };
}

function peakOfProcess(id: number): number {
  const status = readFileSync(`/proc/${id}/status`, 'utf8');
  return 1024 * Number(/^VmHWM:\s*(\d+) kB/m.exec(status)?.[1]);
}

/**
 * The peak memory of a browser's largest renderer, in bytes. A renderer holds page, worker and WASM heap. Linux counts it;
 * 0 on other systems.
 *
 * @param profile The browser's profile folder, which identifies its processes.
 */
export function peakRendererMemory(profile: string): number {
  return Math.max(0, ...renderersOf(profile).map(({ peakBytes }) => peakBytes));
}

/** The CPU time that a browser's living renderers have taken, in ms, by their process ids. On a busy machine it says more than a clock. */
export function rendererCpuMs(profile: string): ReadonlyMap<number, number> {
  return new Map(renderersOf(profile).map(({ pid, cpuMs }) => [pid, cpuMs]));
}

/** Linux only. */
function renderersOf(profile: string): readonly Process[] {
  const processes = listProcesses();
  const roots = processes.filter(({ command }) => command.includes(profile)).map(({ pid }) => pid);
  const family = new Set(roots);
  // Parents come before their children almost always; twice is enough for the others.
  for (const { pid, parent } of [...processes, ...processes]) if (family.has(parent)) family.add(pid);
  return processes.filter(({ pid, command }) => family.has(pid) && command.includes('--type=renderer'));
}

interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly command: string;
  readonly peakBytes: number;
  readonly cpuMs: number;
}

/** Linux counts CPU time in these. */
const MS_PER_TICK = 10;

function listProcesses(): readonly Process[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => describeProcess(Number(name)));
}

function describeProcess(pid: number): readonly Process[] {
  try {
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const field = (name: string): number =>
      Number(new RegExp(`^${name}:\\s*(\\d+)`, 'm').exec(status)?.[1] ?? 0);
    // Behind the name, which may hold spaces, the fields 14 and 15 of proc(5).
    const times = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    const cpuMs = MS_PER_TICK * (Number(times[11]) + Number(times[12]));
    return [{ pid, parent: field('PPid'), command, peakBytes: field('VmHWM') * 1024, cpuMs }];
  } catch {
    // It has ended meanwhile.
    return [];
  }
}
