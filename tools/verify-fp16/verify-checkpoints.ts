import reference from '../../e2e/fixtures/checkpoints-reference.json' with { type: 'json' };
import { CHECKPOINTS, FULL_SIZE } from '../../e2e/hub-server/checkpoints/checkpoints.ts';
import { chooseDevice, createBackend, limitsOf } from '../../src/worker/runtime/create-backend.ts';
import type { Checkpoint } from '../../src/worker/models/checkpoint/checkpoint.ts';
import { logitsErrorBound } from '../../src/worker/models/checkpoint/test-support.ts';
import { packInMemory } from '../../src/worker/models/checkpoint/convert-weights.ts';
import { planModel } from '../../src/worker/models/checkpoint/model-plan.ts';
import { openCheckpoint } from '../../src/worker/models/checkpoint/open-checkpoint.ts';
import type { Dtype } from '../../src/worker/protocol/models.ts';
import type { ModelBackend } from '../../src/worker/runtime/model-backend.ts';

interface Expected {
  readonly promptTokenIds: readonly number[];
  readonly logits?: readonly number[];
}

/** Of float16, relative as below; what quantisation adds is in the weights' own report. */
const FLOAT16_TOLERANCE = 2e-2;

const only = process.argv[2];
let isPass = true;
for (const [id, { prompts }] of Object.entries(reference)) {
  if (id === FULL_SIZE || (only !== undefined && !id.endsWith(`/${only}`))) continue;
  const checkpoint = await openGenerated(id);
  for (const dtype of ['fp16', 'q8', 'q4'] as const) {
    const { error, bound } = await errorOf(checkpoint, dtype, prompts);
    const passes = error <= bound;
    console.log(
      `${passes ? 'ok  ' : 'FAIL'} ${dtype} ${error.toExponential(1)} of ${bound.toExponential(1)}  ${id}`,
    );
    isPass &&= passes;
  }
}
// Dawn keeps Node alive.
process.exit(isPass ? 0 : 1);

function openGenerated(id: string): Promise<Checkpoint> {
  const files = CHECKPOINTS.get(id)?.();
  return openCheckpoint({
    open(name) {
      const file = files?.get(name);
      return Promise.resolve(
        file && { name, size: file.size, read: (begin, end) => Promise.resolve(file.read(begin, end)) },
      );
    },
  });
}

/** RMS of the error over RMS of the logits, of the worst prompt. */
async function errorOf(
  checkpoint: Checkpoint,
  dtype: Dtype,
  prompts: readonly Expected[],
): Promise<{ error: number; bound: number }> {
  const device = await chooseDevice('webgpu');
  const plan = planModel(checkpoint, dtype, limitsOf(device));
  if (plan.layout.precision !== 'float16') {
    throw new Error('Expected an adapter with `shader-f16`: choose one as README.md says.');
  }
  const { packed, weights } = await packInMemory(checkpoint, plan);
  const { backend } = await createBackend({ model: checkpoint.model, packed, weights }, device);
  const errors: number[] = [];
  for (const { promptTokenIds, logits = [] } of prompts) {
    const actual = await logitsOf(backend, promptTokenIds);
    errors.push(Math.hypot(...logits.map((value, i) => (actual[i] ?? NaN) - value)) / Math.hypot(...logits));
  }
  await backend.release();
  return { error: Math.max(...errors), bound: FLOAT16_TOLERANCE + logitsErrorBound(packed) };
}

async function logitsOf(backend: ModelBackend, tokenIds: readonly number[]): Promise<Float32Array> {
  backend.resize({ numSlots: 1, numStagingRows: 1, capacity: tokenIds.length });
  await backend.forward({
    target: 'staging',
    numRows: 1,
    tokensPerRow: tokenIds.length,
    ids: Int32Array.from(tokenIds),
    positions: Int32Array.from(tokenIds, (_, i) => i),
    lastIndices: Int32Array.of(tokenIds.length - 1),
  });
  return backend.readLogits(1);
}
