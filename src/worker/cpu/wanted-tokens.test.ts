import { describe, expect, it } from 'vitest';
import { checkpointWeights } from '../models/checkpoint/convert-weights.ts';
import { layOut } from '../models/checkpoint/packed-weights.ts';
import type { Model } from '../models/family.ts';
import { seededTensors } from '../runtime/gpu-check/seeded-tensors.ts';
import { DECODER_CASES, decoderOf, encoderOf, type Layers } from '../testing/operation-cases.ts';
import { wrongLogits, wrongVectors } from '../testing/operation-trial.ts';
import { runRows } from '../testing/cpu-rows.ts';
import { CpuBackend } from './cpu-backend.ts';
import { CpuEncoder } from './cpu-encoder.ts';
import { loadKernels, RESERVED_BYTES } from './kernels/load-kernels.ts';
import { CpuMemory } from './memory/cpu-memory.ts';
import { CpuStateRows } from './memory/state-rows.ts';
import { CpuPlan } from './plan/cpu-plan.ts';
import { placeWeights } from './weights/place-weights.ts';

const PROMPTS = [
  [3, 1, 4, 1, 5, 9],
  [2, 6],
];
const HEADS = { numHeads: 2, numKvHeads: 1, headSize: 16 };
const CAUSAL = { scale: 0.25, isCausal: true };

/** Two layers of attention, and what is behind them. */
const twoLayers: Layers = (model, x) => {
  const first = model.attend(model.qkv(x, 'a.qkv', HEADS), 'a', HEADS, CAUSAL);
  const second = model.attend(model.qkv(first, 'b.qkv', HEADS), 'b', HEADS, CAUSAL);
  return model.linear(model.linear(second, 'up', 64), 'down', x.width);
};

/** The second layer attends to the keys of the first. */
const sharedKeys: Layers = (model, x) => {
  const [query, key, value] = model.qkv(x, 'a.qkv', HEADS);
  const first = model.attend([query, key, value], 'a', HEADS, CAUSAL);
  const second = model.attend([model.linear(first, 'b.query', 32), key, value], 'b', HEADS, CAUSAL);
  return model.linear(second, 'out', x.width);
};

/** Attention and a product side by side. */
const parallel: Layers = (model, x) => {
  const wide = model.linear(x, 'in', 64);
  const attended = model.attend(model.qkv(wide, 'a.qkv', HEADS), 'a', HEADS, CAUSAL);
  return model.add(model.linear(attended, 'out', x.width), model.linear(wide, 'beside', x.width));
};

function weightsOf(model: Model, dtype: 'fp32' | 'q8') {
  const layout = layOut(model.program.weights, dtype, 'float32');
  return checkpointWeights({ tensors: seededTensors(model, 1) }, { layout });
}

/** The rows of each product of six tokens. */
async function productRows(layers: Layers, wantedTokens = [5]): Promise<readonly number[]> {
  const model = decoderOf(layers);
  const { program } = model;
  const memory = new CpuMemory(RESERVED_BYTES, 2 ** 20, false);
  const { kernels } = await loadKernels(memory.memory, false);
  const counted: number[] = [];
  const multiplyFloat: typeof kernels.multiplyFloat = (...args) => {
    counted.push(args[6]);
    kernels.multiplyFloat(...args);
  };
  const placed = await placeWeights(weightsOf(model, 'fp32').weights, memory, kernels);
  const counting = { kernels: { ...kernels, multiplyFloat }, numThreads: 1 };
  const plan = new CpuPlan(program, counting, memory, placed);
  const state = new CpuStateRows(memory, program.states);
  state.resize(1, 8);
  plan.reserve({ numTokens: 6, numPositions: 8 });
  plan.logits.reserve(1);
  const spans = [{ row: 0, start: 0, numTokens: 6, position: 0 }];
  const inputs = { ids: [3, 1, 4, 1, 5, 9], positions: [0, 1, 2, 3, 4, 5] };
  await plan.run({ numTokens: 6, spans, wantedTokens, firstLogitRow: 0, state }, inputs);
  return counted;
}

describe('tokens whose logits nobody wants', () => {
  it('are multiplied up to the keys and values of the last layer', async () => {
    const head = 1;
    expect(await productRows(twoLayers)).toEqual([6, 6, 1, 1, head]);
    expect(await productRows(twoLayers, [])).toEqual([6, 6]);
  });

  it('are multiplied no more where later layers attend to the keys of an earlier one', async () => {
    const head = 1;
    expect(await productRows(sharedKeys)).toEqual([6, 1, 1, head]);
  });

  it.each(Object.entries({ ...DECODER_CASES, sharedKeys, parallel }))(
    'change no bit of the others: %s',
    async (_, layers) => {
      const model = decoderOf(layers);
      const backend = await CpuBackend.create({ model, ...weightsOf(model, 'q8') });
      const prompts = PROMPTS.map((tokenIds) => ({ tokenIds }));
      const logitsWith = async (...scored: number[]): Promise<Float32Array> => {
        backend.resize({ numSlots: 2, numStagingRows: 2, capacity: 32, numSnapshots: 0 });
        const scoredTokens = Int32Array.from(scored);
        const logits = await runRows(backend, prompts, { target: 'staging', scoredTokens });
        return logits.subarray(0, PROMPTS.length * model.config.vocabSize);
      };
      const last = await logitsWith();
      expect(await logitsWith(0, 1, 2, 3, 4, 5, 6, 7)).toEqual(last);
      expect(await logitsWith(1, 3, 4, 6)).toEqual(last);
    },
  );

  it('leave the others as `ReferenceExecutor` has them where layers share keys, in a generator and in an encoder', async () => {
    const reader = {
      dtype: 'fp32',
      tolerance: 1e-6,
      createBackend: (...model: Parameters<typeof CpuBackend.create>) => CpuBackend.create(...model),
      createEncoder: (...model: Parameters<typeof CpuEncoder.create>) => CpuEncoder.create(...model),
    } as const;
    expect(await wrongLogits(reader, decoderOf(sharedKeys))).toEqual({});
    expect(await wrongVectors(reader, encoderOf({ pooling: 'last', layers: sharedKeys }))).toEqual({});
  });
});
