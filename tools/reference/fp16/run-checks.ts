import type { Dtype } from '../../../src/protocol/models.ts';
import { findWrongValuesOf } from '../../../src/worker/runtime/gpu-check/gpu-check.ts';
import { requestGpuDevice } from '../../../src/worker/runtime/webgpu/gpu-device.ts';
import { shipNodeBuild } from './node-build.ts';

export interface CheckResult {
  readonly modelType: string;
  readonly dtype: Dtype;
  /** Where values are said to be wrong; empty if all are right. */
  readonly where: string;
}

const MODEL_TYPES = ['gpt2', 'llama', 'qwen3'];
const DTYPES = ['fp16', 'q8', 'q4'] as const;

/** Runs the check that each GPU goes through before it serves, in fp16. */
export async function runChecks(): Promise<readonly CheckResult[]> {
  shipNodeBuild();
  const results: CheckResult[] = [];
  for (const modelType of MODEL_TYPES)
    for (const dtype of DTYPES) {
      const { device } = await requestGpuDevice('fp16');
      const checked = { modelType, dtype, precision: 'float16' } as const;
      const where = await findWrongValuesOf(device, checked, () => {});
      device.destroy();
      results.push({ modelType, dtype, where: where ?? '' });
    }
  return results;
}
