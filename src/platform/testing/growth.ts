import { cpuUsage } from 'node:process';

const FIRST_LENGTH = 2 ** 8;
const STEP = 4;
const MAX_ROUNDS = 3;
/** Times below this are the clock's and the collector's. */
const LEAST_MS = 10;
/** For 16 times as much: between the 16 of linear time and the 256 of quadratic time. */
const LIMIT = 100;

/**
 * Whether the time of `run` grows with the length, not with its square, up to `maxLength`. False at the first step that says so: a
 * bad one would never end.
 */
export async function isLinear(maxLength: number, run: (length: number) => unknown): Promise<boolean> {
  const times: number[] = [];
  for (let length = FIRST_LENGTH; length <= maxLength; length *= STEP) {
    times.push(await bestTimeOf(() => run(length)));
    const [now = 0, before = 0] = [times.at(-1), times.at(-3)];
    if (times.length > 2 && now / Math.max(LEAST_MS, before) > LIMIT) return false;
  }
  return true;
}

/** Time of this process alone, since others use the machine too. The collector may run, so the best of several rounds counts. */
async function bestTimeOf(run: () => unknown): Promise<number> {
  const times: number[] = [];
  const begin = performance.now();
  while (times.length < MAX_ROUNDS && performance.now() - begin < 200) {
    const start = cpuUsage();
    await run();
    const { user, system } = cpuUsage(start);
    times.push((user + system) / 1000);
  }
  return Math.min(...times);
}
