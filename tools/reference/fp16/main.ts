import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import pLimit from 'p-limit';

import { runCommand } from '../../../bridge/browser/commands.ts';
import { installApart } from '../../install-apart.ts';
import { CASES } from './cases.ts';
import { TOLERANCE } from './compare.ts';
import type { Line } from './job.ts';
import { lavapipeEnvironment } from './vulkan-driver.ts';

// Does the engine give float64's logits and tokens on WebGPU, in fp32 and in fp16? `npm run test:fp16 [-- PART OF A NAME]`

const execute = promisify(execFile);

const FOLDER = new URL('./', import.meta.url);
const TIMEOUT_MS = 600_000;
const NUM_PROCESSES = 2;

const [only = ''] = process.argv.slice(2);
await installApart(FOLDER, 'Dawn for Node');
const env = { ...process.env, ...(await lavapipeEnvironment()) };
const python = await findNumPy();
const temporary = await mkdtemp(join(tmpdir(), 'tabserve-fp16-'));
/** Processes of their own, by their names, with their arguments. */
const jobs = [
  ...CASES.map(({ family, headSize }, index) => ({
    name: `${family}, heads of ${headSize}`,
    args: [String(index), join(temporary, String(index)), python],
  })),
  { name: 'GPU check', args: ['checks'] },
].filter(({ name }) => name.includes(only));
const limit = pLimit(NUM_PROCESSES);
const results = await Promise.all(jobs.map(({ name, args }) => limit(() => run(name, args))));
await rm(temporary, { recursive: true, force: true });
const numFailed = results.filter((isPass) => !isPass).length;
console.log(
  `A logit may be off by ${TOLERANCE.float32} (fp32) and ${TOLERANCE.float16} (fp16) of the deviation of its row. ` +
    `${jobs.length - numFailed} passed, ${numFailed} failed`,
);
process.exitCode = numFailed === 0 && jobs.length > 0 ? 0 : 1;

async function findNumPy(): Promise<string> {
  const script = pathOf('../../test-python/environments.py');
  const { isSuccess, output } = await runCommand('python3', ['-B', script, 'numpy'], {
    timeoutMs: TIMEOUT_MS,
    isQuiet: true,
  });
  const folder = output.trim().split('\n').at(-1);
  if (isSuccess && folder) return join(folder, 'python');
  throw new Error(
    "Couldn't make an environment with NumPy: install Python 3.11 or later, with venv, and check the network.",
  );
}

function pathOf(file: string): string {
  return fileURLToPath(new URL(file, FOLDER));
}

/** @returns Whether all of its lines hold. */
async function run(name: string, args: readonly string[]): Promise<boolean> {
  try {
    const command = ['--import', pathOf('dawn-globals.ts'), pathOf('job-process.ts'), ...args];
    const { stdout } = await execute(process.execPath, command, { timeout: TIMEOUT_MS, env });
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
