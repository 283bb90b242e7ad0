import { readdirSync, readFileSync } from 'node:fs';

interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  /** Start time in ticks since the machine booted. It distinguishes processes that reuse an id. */
  readonly startedAt: string;
  readonly state: string;
}

/** A process and all that it has started, as Linux knows them. */
export function familyOf(pid: number): readonly ProcessEntry[] {
  const all = allProcesses();
  const family = all.filter((entry) => entry.pid === pid);
  for (const { pid: parent } of family) family.push(...all.filter((entry) => entry.parent === parent));
  return family;
}

/** The processes that still run. A zombie has ended. */
export function runningOf(family: readonly ProcessEntry[]): readonly ProcessEntry[] {
  const running = allProcesses().filter(({ state }) => state !== 'Z');
  return family.filter(({ pid, startedAt }) =>
    running.some((entry) => entry.pid === pid && entry.startedAt === startedAt),
  );
}

function allProcesses(): readonly ProcessEntry[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      // The command's name, in parentheses, may contain anything. After it: state, parent, …, start time.
      const fields = readFileSync(`/proc/${name}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ');
      const [state = '', parent = ''] = fields;
      return [{ pid: Number(name), parent: Number(parent), startedAt: fields[19] ?? '', state }];
    } catch {
      // The process has ended meanwhile.
      return [];
    }
  });
}
