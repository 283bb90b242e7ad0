import { describe, expect, it, vi } from 'vitest';
import type { DeviceLimits } from '../../models/checkpoint/device-fit.ts';
import { gpuWith, WASM } from '../../models/checkpoint/test-support.ts';
import { layOut } from '../../models/checkpoint/packed-weights.ts';
import type { WeightSource } from '../../models/checkpoint/weight-source.ts';
import { readModel } from '../../models/families/families.ts';
import { loadStoredModel, type ReportProgress } from './load-model.ts';
import type { StartStage } from '../../../protocol/models.ts';
import type { ModelFolder } from '../../models/store/model-folder.ts';
import type { DeviceChoice } from '../../runtime/device-choice.ts';
import { CpuRuntime } from '../../cpu/cpu-runtime.ts';
import type { PackedModel } from '../../runtime/model-backend.ts';

const CONFIG = {
  model_type: 'gpt2',
  n_embd: 768,
  n_head: 12,
  n_layer: 12,
  n_positions: 8192,
  vocab_size: 500,
};
const TEXT_CONFIG = {
  model_type: 'qwen3_5_text',
  hidden_size: 32,
  intermediate_size: 32,
  linear_num_value_heads: 16,
  max_position_embeddings: 128,
  num_attention_heads: 1,
  num_hidden_layers: 4,
  num_key_value_heads: 1,
  vocab_size: 500,
};
/** Bytes of one sequence and its staging row, in fp32. */
const KV_BYTES_PER_TOKEN = 2 * 2 * 12 * 768 * 4;

const device = vi.hoisted((): { limits?: DeviceLimits } => ({}));

vi.mock('../../runtime/devices/create-backend.ts', () => ({
  limitsOf: () => device.limits,
  async createBackend({ model, weights }: PackedModel, { fallbackReason }: DeviceChoice) {
    await weights.stream(() => {});
    return { backend: { model }, backendInfo: { fallbackReason } };
  },
}));
vi.mock('../../models/tokenizer/tokenizer.ts', () => ({
  createTokenizer: () => Promise.resolve({ endTokenIds: [] }),
}));

describe('a stored model', () => {
  it('serves with the context that this device holds, whatever stored it', async () => {
    const cache = 3000 * KV_BYTES_PER_TOKEN;
    device.limits = gpuWith({
      hasShaderF16: false,
      maxBufferSize: cache,
      maxStorageBufferBindingSize: cache,
    });
    expect(await load()).toMatchObject({
      config: { contextLength: 3000 },
      modelInfo: { contextLength: 3000 },
      backend: { model: { config: { contextLength: 3000 } } },
    });
  });

  it('is refused where the device is too small for it', async () => {
    device.limits = { ...WASM, memoryBytes: 2 ** 29 };
    await expect(load()).rejects.toMatchObject({
      code: 'MODEL_TOO_LARGE',
      message: expect.stringMatching(/as fp32 with a context of 4096 tokens .* MB, more than the 403 MB/),
    });
  });

  it('says how many bytes of its weights the device has', async () => {
    device.limits = WASM;
    const seen: StartStage[] = [];
    await load((progress) => seen.push(progress));
    const total = seen[0]?.total ?? 0;
    expect(seen[0]).toEqual({ phase: 'prepare', loaded: 0, total });
    expect(seen.at(-1)).toEqual({ phase: 'prepare', loaded: total, total });
    const loaded = seen.map((progress) => progress.loaded);
    expect(loaded).toEqual(loaded.toSorted((a, b) => a - b));
    expect(loaded.length).toBeGreaterThan(5);
    expect(loaded.length).toBeLessThan(30);
  });

  it('names the commit that it was fetched from', async () => {
    device.limits = WASM;
    expect(await load()).toMatchObject({ modelInfo: { id: 'a/b', origin: 'c0ffee' } });
  });

  it('says why it is on this device, and in this precision', async () => {
    device.limits = WASM;
    const { backendInfo } = { backendInfo: undefined, ...(await load()) };
    expect(backendInfo?.fallbackReason).toBe('There is no GPU. As fp32 it is slow');
  });

  it('says that its vision tower is skipped, if it has one', async () => {
    device.limits = WASM;
    const info = vi.spyOn(console, 'info').mockReturnValue();
    const vision = { model_type: 'qwen3_5', text_config: TEXT_CONFIG, vision_config: {} };
    for (const config of [TEXT_CONFIG, vision]) await load(undefined, config);
    expect(info.mock.calls).toEqual([[expect.stringMatching(/^a\/b .*skips its vision tower/)]]);
    info.mockRestore();
  });
});

function load(report: ReportProgress = () => {}, config: object = CONFIG) {
  const packed = layOut(readModel(config, undefined).program.weights, 'fp32', 'float32');
  const folder = {
    manifest: { id: 'a/b', hub: 'https://hub', commit: 'c0ffee', packed, dtypeReason: 'as fp32 it is slow' },
    readTexts: () => Promise.resolve({ config, tokenizer: {} }),
    withWeights: (onRead: (numBytes: number) => void, run: (weights: WeightSource) => Promise<unknown>) =>
      run({
        stream() {
          for (const { length } of packed.tensors) onRead(length);
          return Promise.resolve();
        },
        bytes: () => Promise.reject(new Error('Not read on the CPU')),
      }),
  };
  const rung: DeviceChoice = {
    rung: 'wasm',
    fallbackReason: 'There is no GPU',
    runtime: new CpuRuntime(1),
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- nothing else is read of it
  return loadStoredModel(folder as unknown as ModelFolder, rung, report);
}
