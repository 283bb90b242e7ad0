import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import pLimit from 'p-limit';

import { runCommand } from '../browser/commands.ts';
import { installApart } from '../install-apart/install-apart.ts';
import { CASES, nameOf, type Case } from './cases.ts';
import { TOLERANCE } from './compare.ts';
import type { CaseResult } from './run-case.ts';
import { lavapipeEnvironment } from './vulkan-driver.ts';

// Does the engine give float64's logits and tokens on WebGPU, in fp32 and in fp16? `npm run test:fp16 [-- PART OF A NAME]`

const run = promisify(execFile);

const FOLDER = new URL('./', import.meta.url);
const CASE_TIMEOUT_MS = 300_000;
const NUM_PROCESSES = 2;

const [only = ''] = process.argv.slice(2);
await installApart(FOLDER, 'Dawn for Node');
const env = await lavapipeEnvironment();
const python = await findNumPy();
const limit = pLimit(NUM_PROCESSES);
const chosen = CASES.filter((testCase) => nameOf(testCase).includes(only));
const results = await Promise.all(chosen.map((testCase) => limit(() => runApart(testCase))));
const numFailed = results.filter((isPass) => !isPass).length;
console.log(
  `A logit may be off by ${TOLERANCE.float32} (fp32) and ${TOLERANCE.float16} (fp16) of the deviation of its row. ` +
    `${chosen.length - numFailed} models passed, ${numFailed} failed`,
);
process.exitCode = numFailed === 0 && chosen.length > 0 ? 0 : 1;

async function findNumPy(): Promise<string> {
  const script = fileURLToPath(new URL('../test-python/environments.py', FOLDER));
  const { isSuccess, output } = await runCommand('python3', ['-B', script, 'numpy'], {
    timeoutMs: CASE_TIMEOUT_MS,
    isQuiet: true,
  });
  const folder = output.trim().split('\n').at(-1);
  if (isSuccess && folder) return join(folder, 'python');
  throw new Error(
    "Couldn't make an environment with NumPy: install Python 3.11 or later, with venv, and check the network.",
  );
}

/** @returns Whether all of its lines hold. */
async function runApart(testCase: Case): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), 'tabserve-fp16-'));
  try {
    const pathOf = (name: string): string => fileURLToPath(new URL(name, FOLDER));
    const args = [
      '--import',
      pathOf('dawn-globals.ts'),
      pathOf('case-process.ts'),
      String(CASES.indexOf(testCase)),
      folder,
      python,
    ];
    const { stdout } = await run(process.execPath, args, {
      timeout: CASE_TIMEOUT_MS,
      env: { ...process.env, ...env },
    });
    const lines: readonly CaseResult[] = JSON.parse(stdout);
    for (const line of lines) console.log(format(testCase, line));
    return lines.every(({ faults }) => faults.length === 0);
  } catch (error) {
    // The message has what the process wrote to stderr.
    console.log(`FAIL ${nameOf(testCase)}: ${String(error)}`);
    return false;
  } finally {
    await rm(folder, { recursive: true });
  }
}

function format(
  testCase: Case,
  { dtype, largestError, numDecided, numEqual, faults, seconds }: CaseResult,
): string {
  const cells = [
    faults.length === 0 ? 'ok  ' : 'FAIL',
    testCase.family.padEnd(11),
    String(testCase.headSize).padStart(3),
    dtype.padEnd(4),
    largestError.toExponential(1),
    `${numEqual}/${numDecided}`.padStart(7),
    `${seconds.toFixed(0)} s`.padStart(5),
    ...faults,
  ];
  return cells.join('  ');
}
