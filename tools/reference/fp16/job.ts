import type { CheckpointFiles } from '../../../src/worker/models/formats/checkpoint-files.ts';
import { openCheckpoint } from '../../../src/worker/models/checkpoint/open-checkpoint.ts';
import { createBackend } from '../../../src/worker/runtime/devices/create-backend.ts';
import { findWrongValuesOf } from '../../../src/worker/runtime/gpu-check/gpu-check.ts';
import { setBuilds } from '../../../src/worker/runtime/ort/ort.ts';
import { WASM_BUILD } from '../../../src/worker/runtime/ort/wasm-build.ts';
import { requestGpuDevice } from '../../../src/worker/runtime/webgpu/gpu-device.ts';
import { WebGpuRuntime } from '../../../src/worker/runtime/webgpu/webgpu-runtime.ts';
import { CPU, folderOf, logitsOf, packModel } from '../run-model.ts';
import { CASES } from './cases.ts';
import { compareRun } from './compare.ts';
import { recordRun, type RecordedText } from './recorded-run.ts';

export interface Line {
  readonly cells: readonly string[];
  readonly faults: readonly string[];
}

// Node 24 has JSPI behind a flag alone, so this is the build that does without.
setBuilds({ webgpu: { load: () => import('onnxruntime-web/webgpu') }, wasm: WASM_BUILD });

/** Runs one of `CASES` in each of its dtypes, and compares it with the CPU. */
export async function runCase(index: number): Promise<readonly Line[]> {
  const testCase = CASES[index];
  if (!testCase) throw new Error(`Expected the number of a case, got ${index}.`);
  const { family, headSize, dtypes } = testCase;
  const folder = folderOf(testCase.generate());
  const checkpoint = await openCheckpoint(folder);
  const lines: Line[] = [];
  for (const dtype of dtypes) {
    const startedAtMs = performance.now();
    const run = await recordRun(checkpoint, dtype);
    const expected = await expectedLogits(folder, run.texts);
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

/** What the CPU computes in fp32 for the same tokens. @returns [vocab] for each sampled token of each text. */
async function expectedLogits(folder: CheckpointFiles, texts: readonly RecordedText[]) {
  const { packed } = await packModel(folder, 'fp32', CPU);
  const { backend } = await createBackend(packed, CPU);
  const expected: (readonly Float32Array[])[] = [];
  for (const { promptTokenIds, tokenIds } of texts) {
    const ids = [...promptTokenIds, ...tokenIds.slice(0, -1)];
    expected.push(
      ...(await logitsOf(backend, packed.model.config.contextLength, [ids], promptTokenIds.length)),
    );
  }
  await backend.release();
  return expected;
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
