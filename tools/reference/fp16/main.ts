import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import pLimit from 'p-limit';

import { installApart } from '../../install-apart.ts';
import { CASES } from './cases.ts';
import { TOLERANCE } from './compare.ts';
import type { Line } from './job.ts';
import { lavapipeEnvironment } from './vulkan-driver.ts';

// Does the engine give the CPU's logits and tokens on WebGPU, in fp32 and in fp16? `npm run test:fp16 [-- PART OF A NAME]`

const execute = promisify(execFile);

const FOLDER = new URL('./', import.meta.url);
const PROGRAM = [
  '--import',
  `${import.meta.dirname}/dawn-globals.ts`,
  `${import.meta.dirname}/job-process.ts`,
];
const TIMEOUT_MS = 600_000;
const NUM_PROCESSES = 2;

const [only = ''] = process.argv.slice(2);
await installApart(FOLDER, 'Dawn for Node');
const env = { ...process.env, ...(await lavapipeEnvironment()) };
/** Processes of their own, by their names, with their argument. */
const jobs = [
  ...CASES.map(({ family, headSize }, index) => ({
    name: `${family}, heads of ${headSize}`,
    what: String(index),
  })),
  { name: 'GPU check', what: 'checks' },
].filter(({ name }) => name.includes(only));
const limit = pLimit(NUM_PROCESSES);
const results = await Promise.all(jobs.map(({ name, what }) => limit(() => run(name, what))));
const numFailed = results.filter((isPass) => !isPass).length;
console.log(
  `A logit may be off by ${TOLERANCE.float32} (fp32) and ${TOLERANCE.float16} (fp16) of the deviation of its row. ` +
    `${jobs.length - numFailed} passed, ${numFailed} failed`,
);
process.exitCode = numFailed === 0 && jobs.length > 0 ? 0 : 1;

async function run(name: string, what: string): Promise<boolean> {
  try {
    const { stdout } = await execute(process.execPath, [...PROGRAM, what], { timeout: TIMEOUT_MS, env });
    const lines: readonly Line[] = JSON.parse(stdout);
    for (const { cells, faults } of lines)
      console.log(`${faults.length === 0 ? 'ok  ' : 'FAIL'}  ${[...cells, ...faults].join('  ')}`);
    return lines.every(({ faults }) => faults.length === 0);
  } catch (error) {
    // The message has what the process wrote to stderr.
    console.log(`FAIL  ${name}: ${String(error)}`);
    return false;
  }
}
