import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { runCommand } from '../../../bridge/browser/commands.ts';
import { openCheckpoint } from '../../../src/worker/models/checkpoint/open-checkpoint.ts';
import { findWrongValuesOf } from '../../../src/worker/runtime/gpu-check/gpu-check.ts';
import { setBuilds } from '../../../src/worker/runtime/ort/ort.ts';
import { requestGpuDevice } from '../../../src/worker/runtime/webgpu/gpu-device.ts';
import { WebGpuRuntime } from '../../../src/worker/runtime/webgpu/webgpu-runtime.ts';
import { writeCheckpoints } from '../../hub-server/checkpoints/write-checkpoints.ts';
import { folderOf } from '../run-model.ts';
import { CASES } from './cases.ts';
import { compareRun } from './compare.ts';
import { recordRun, type RecordedText } from './recorded-run.ts';

/** A line of the table. */
export interface Line {
  readonly cells: readonly string[];
  /** What is wrong, in words. */
  readonly faults: readonly string[];
}

const REFERENCE = new URL('reference.py', import.meta.url).pathname;
const REFERENCE_TIMEOUT_MS = 300_000;

// Node 24 has JSPI behind a flag alone, so this is the build that does without.
setBuilds({ webgpu: { load: () => import('onnxruntime-web/webgpu') } });

/**
 * Runs one of `CASES` in each of its dtypes, and compares it with float64.
 *
 * @param folder Will be made.
 * @param python Has NumPy.
 */
export async function runCase(index: number, folder: string, python: string): Promise<readonly Line[]> {
  const testCase = CASES[index];
  if (!testCase) throw new Error(`Expected the number of a case, got ${index}.`);
  const { family, headSize, dtypes } = testCase;
  const files = testCase.generate();
  writeCheckpoints(folder, new Map([['checkpoint', () => files]]));
  const checkpoint = await openCheckpoint(folderOf(files));
  const lines: Line[] = [];
  for (const dtype of dtypes) {
    const startedAtMs = performance.now();
    const run = await recordRun(checkpoint, dtype);
    const expected = await expectedLogits(run.texts, folder, python);
    const { largestError, numDecided, numEqual, faults } = compareRun(run, expected);
    const seconds = (performance.now() - startedAtMs) / 1000;
    const figures = [
      largestError.toExponential(1),
      `${numEqual}/${numDecided}`.padStart(7),
      `${seconds.toFixed(0)} s`.padStart(5),
    ];
    const name = [family.padEnd(11), String(headSize).padStart(3), dtype.padEnd(4)];
    lines.push({ cells: [...name, ...figures], faults });
  }
  return lines;
}

/** @returns The logits of all tokens of all texts, one after the other. */
async function expectedLogits(
  texts: readonly RecordedText[],
  folder: string,
  python: string,
): Promise<Float64Array> {
  const [sequences, target] = [join(folder, 'sequences.json'), join(folder, 'logits')];
  const list = texts.map(({ promptTokenIds, tokenIds }) => ({
    ids: [...promptTokenIds, ...tokenIds],
    first: promptTokenIds.length - 1,
  }));
  writeFileSync(sequences, JSON.stringify(list));
  const args = [REFERENCE, join(folder, 'checkpoint'), sequences, target];
  const { isSuccess } = await runCommand(python, args, { timeoutMs: REFERENCE_TIMEOUT_MS });
  if (!isSuccess) throw new Error('The float64 reference failed: see its error above.');
  return new Float64Array(new Uint8Array(readFileSync(target)).buffer);
}

/** Runs the check that each GPU goes through before it serves, in fp16. */
export async function runChecks(): Promise<readonly Line[]> {
  const lines: Line[] = [];
  for (const modelType of ['gpt2', 'llama', 'qwen3'])
    for (const dtype of ['fp16', 'q8', 'q4'] as const) {
      const runtime = new WebGpuRuntime(await requestGpuDevice('fp16'));
      const where = await findWrongValuesOf(runtime, { modelType, dtype, precision: 'float16' }, () => {});
      runtime.gpu.device.destroy();
      lines.push({ cells: ['GPU check  ', modelType.padEnd(5), dtype], faults: where ? [where] : [] });
    }
  return lines;
}
