import { describe, expect, it, vi } from 'vitest';
import type { DeviceLimits } from './checkpoint/device-fit.ts';
import { layOut } from './checkpoint/packed-weights.ts';
import { readModel } from './families.ts';
import { loadStoredModel } from './load-model.ts';
import type { ModelFolder } from './store/model-folder.ts';
import type { DeviceChoice } from '../runtime/create-backend.ts';
import type { PackedModel } from '../runtime/model-backend.ts';

const CONFIG = {
  model_type: 'gpt2',
  n_embd: 768,
  n_head: 12,
  n_layer: 12,
  n_positions: 8192,
  vocab_size: 500,
};
/** Of one sequence and its staging row, in fp32. */
const KV_BYTES_PER_TOKEN = 2 * 2 * 12 * 768 * 4;

const device = vi.hoisted(() => ({ limits: { kind: 'wasm', memoryBytes: undefined } as DeviceLimits }));

vi.mock('../runtime/create-backend.ts', () => ({
  limitsOf: () => device.limits,
  createBackend: ({ model }: PackedModel) => Promise.resolve({ backend: { model }, backendInfo: {} }),
}));
vi.mock('./tokenizer/tokenizer.ts', () => ({ createTokenizer: () => Promise.resolve({ endTokenIds: [] }) }));

describe('a stored model', () => {
  it('serves with the context that this device holds, whatever stored it', async () => {
    const cache = 3000 * KV_BYTES_PER_TOKEN;
    device.limits = {
      kind: 'webgpu',
      hasShaderF16: false,
      maxBufferSize: cache,
      maxStorageBufferBindingSize: cache,
      memoryBytes: undefined,
    };
    const { config, modelInfo, backend } = await load();
    expect([config.contextLength, modelInfo.contextLength]).toEqual([3000, 3000]);
    expect(backend).toMatchObject({ model: { config: { contextLength: 3000 } } });
  });

  it('is refused where the device is too small for it', async () => {
    device.limits = { kind: 'wasm', memoryBytes: 2 ** 29 };
    await expect(load()).rejects.toMatchObject({
      code: 'MODEL_TOO_LARGE',
      message: expect.stringMatching(/as fp32 with a context of 4096 tokens .* MB, more than the 403 MB/),
    });
  });
});

function load() {
  const packed = layOut(readModel(CONFIG, undefined).tensors, 'fp32', 'float32');
  const folder = {
    manifest: { id: 'a/b', packed },
    readTexts: () => Promise.resolve({ config: CONFIG, tokenizer: {} }),
    openWeights: () => Promise.resolve({ close: () => {} }),
  };
  const rung = { rung: 'wasm', fallbackReason: '', numThreads: 1 } satisfies DeviceChoice;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- nothing else is read of it
  return loadStoredModel(folder as unknown as ModelFolder, rung, () => {});
}
