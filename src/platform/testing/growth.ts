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
    const limit = LIMIT * Math.max(LEAST_MS, times.at(-2) ?? Infinity);
    times.push(await bestTimeOf(() => run(length), limit));
    if ((times.at(-1) ?? 0) > limit) return false;
  }
  return true;
}

/**
 * Time of this process alone, since others use the machine too. The collector may run, so the best of several rounds counts, where
 * one is short or beyond the limit.
 */
async function bestTimeOf(run: () => unknown, limit: number): Promise<number> {
  const times: number[] = [];
  const isClear = (ms: number): boolean => ms > LEAST_MS && ms <= limit;
  while (times.length < MAX_ROUNDS && !times.some(isClear)) {
    const start = cpuUsage();
    await run();
    const { user, system } = cpuUsage(start);
    times.push((user + system) / 1000);
  }
  return Math.min(...times);
}
