import { readdirSync, readFileSync } from 'node:fs';

/**
 * The most memory that a renderer of a browser has ever had, in bytes: page, worker and WASM heap are in one. By Linux' own
 * count; 0 on other systems.
 *
 * @param profile The browser's profile folder, by which its processes are told from others.
 */
export function peakRendererMemory(profile: string): number {
  const processes = listProcesses();
  const roots = processes.filter(({ command }) => command.includes(profile)).map(({ pid }) => pid);
  const family = new Set(roots);
  // Parents come before their children almost always; twice is enough for the others.
  for (const { pid, parent } of [...processes, ...processes]) if (family.has(parent)) family.add(pid);
  const renderers = processes.filter(
    ({ pid, command }) => family.has(pid) && command.includes('--type=renderer'),
  );
  return Math.max(0, ...renderers.map(({ peakBytes }) => peakBytes));
}

interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly command: string;
  readonly peakBytes: number;
}

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
    return [{ pid, parent: field('PPid'), command, peakBytes: field('VmHWM') * 1024 }];
  } catch {
    // It has ended meanwhile.
    return [];
  }
}
