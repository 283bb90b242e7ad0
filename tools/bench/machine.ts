import { availableParallelism, cpus, totalmem } from 'node:os';

export interface Machine {
  readonly cpu: string;
  readonly numCores: number;
  readonly memoryGiB: number;
}

export function describeMachine(): Machine {
  return {
    cpu: cpus()[0]?.model ?? 'unknown CPU',
    numCores: availableParallelism(),
    memoryGiB: Math.round(totalmem() / 2 ** 30),
  };
}
