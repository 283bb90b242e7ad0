import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import pLimit from 'p-limit';

import { runCommand } from '../../../bridge/browser/commands.ts';
import { installApart } from '../../install-apart.ts';
import { CASES, type Case } from './cases.ts';
import { TOLERANCE } from './compare.ts';
import type { CaseResult } from './run-case.ts';
import type { CheckResult } from './run-checks.ts';
import { lavapipeEnvironment } from './vulkan-driver.ts';

// Does the engine give float64's logits and tokens on WebGPU, in fp32 and in fp16? `npm run test:fp16 [-- PART OF A NAME]`

/** A process of its own, and what to make of what it prints. */
interface Job {
  readonly name: string;
  readonly args: readonly string[];
  readonly linesOf: (output: string) => readonly Line[];
}

interface Line {
  readonly text: string;
  readonly isPass: boolean;
}

const execute = promisify(execFile);

const FOLDER = new URL('./', import.meta.url);
const TIMEOUT_MS = 600_000;
const NUM_PROCESSES = 2;

const [only = ''] = process.argv.slice(2);
await installApart(FOLDER, 'Dawn for Node');
const env = await lavapipeEnvironment();
const python = await findNumPy();
const temporary = await mkdtemp(join(tmpdir(), 'tabserve-fp16-'));
const jobs = [...CASES.map(caseJob), checksJob()].filter(({ name }) => name.includes(only));
const limit = pLimit(NUM_PROCESSES);
const results = await Promise.all(jobs.map((job) => limit(() => run(job))));
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

function caseJob(testCase: Case, index: number): Job {
  return {
    name: `${testCase.family}, heads of ${testCase.headSize}`,
    args: [String(index), join(temporary, String(index)), python],
    linesOf(output) {
      const lines: readonly CaseResult[] = JSON.parse(output);
      return lines.map((line) => ({ text: format(testCase, line), isPass: line.faults.length === 0 }));
    },
  };
}

function checksJob(): Job {
  return {
    name: 'GPU check',
    args: ['checks'],
    linesOf(output) {
      const lines: readonly CheckResult[] = JSON.parse(output);
      return lines.map(({ modelType, dtype, where }) => ({
        text: `GPU check    ${modelType.padEnd(5)}  ${dtype}  ${where}`.trimEnd(),
        isPass: where === '',
      }));
    },
  };
}

function pathOf(file: string): string {
  return fileURLToPath(new URL(file, FOLDER));
}

/** @returns Whether all of its lines hold. */
async function run({ name, args, linesOf }: Job): Promise<boolean> {
  try {
    const { stdout } = await execute(
      process.execPath,
      ['--import', pathOf('dawn-globals.ts'), pathOf('job-process.ts'), ...args],
      { timeout: TIMEOUT_MS, env: { ...process.env, ...env } },
    );
    const lines = linesOf(stdout);
    for (const { text, isPass } of lines) console.log(`${isPass ? 'ok  ' : 'FAIL'}  ${text}`);
    return lines.every(({ isPass }) => isPass);
  } catch (error) {
    // The message has what the process wrote to stderr.
    console.log(`FAIL  ${name}: ${String(error)}`);
    return false;
  }
}

function format({ family, headSize }: Case, result: CaseResult): string {
  const { dtype, largestError, numDecided, numEqual, faults, seconds } = result;
  const cells = [
    family.padEnd(11),
    String(headSize).padStart(3),
    dtype.padEnd(4),
    largestError.toExponential(1),
    `${numEqual}/${numDecided}`.padStart(7),
    `${seconds.toFixed(0)} s`.padStart(5),
    ...faults,
  ];
  return cells.join('  ');
}
