import { availableParallelism, cpus, loadavg, totalmem } from 'node:os';

export interface Conditions {
  readonly startedAt: string;
  readonly command: string;
  /** Missing in the oldest records. */
  readonly machine?: { readonly cpu: string; readonly numCores: number; readonly memoryGiB: number };
  /** Processes that wanted to run in the minute before, in newer runs. Don't trust rates if it is far above 0. */
  readonly loadAverage?: number;
  /** Name and version, as the browser reports them. */
  readonly browser: string;
}

const [LOAD_AVERAGE = 0] = loadavg();

/** @param command Arguments of `npm run bench --`. */
export function conditionsOf(command: string, browser: string): Conditions {
  return {
    startedAt: new Date().toISOString(),
    command: `npm run bench -- ${command}`,
    machine: {
      cpu: cpus()[0]?.model ?? 'unknown CPU',
      numCores: availableParallelism(),
      memoryGiB: Math.round(totalmem() / 2 ** 30),
    },
    loadAverage: LOAD_AVERAGE,
    browser,
  };
}

export function machineText({ machine, loadAverage }: Conditions): string {
  if (!machine) return '';
  const load = loadAverage === undefined ? '' : `, load ${loadAverage.toFixed(1)} before`;
  return `${machine.cpu}, ${machine.numCores} cores${load}`;
}
