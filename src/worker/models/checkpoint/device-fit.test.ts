import { describe, expect, it } from 'vitest';
import type { Heads, ModelConfig, ModelTensor } from '../program/model-config.ts';
import type { LayerState } from '../program/layer-state.ts';
import { fitOnDevice } from './device-fit.ts';
import { layOut } from './packed-weights.ts';
import { GIBIBYTE, GPU, gpuWith, WASM } from './test-support.ts';

/** K/V of 32 KiB per token in fp16, and a context that no device here holds. */
const CONFIG: ModelConfig & Heads = {
  vocabSize: 1000,
  contextLength: 131_072,
  numLayers: 16,
  numHeads: 32,
  numKvHeads: 8,
  headSize: 64,
  eosTokenIds: [],
};
const SHORT = { ...CONFIG, contextLength: 1024 };
/** 224 KiB per token in fp32. */
const WIDE = { ...CONFIG, contextLength: 40_960, numLayers: 28, headSize: 128 };
/** 256 MiB in fp16, 512 MiB in fp32. */
const TENSOR: ModelTensor = { name: 'w', shape: [2 ** 17, 2 ** 10], role: 'linear' };

/** Layers that keep the keys and values of each token; of an encoder, layers that keep nothing. */
function modelOf(config: ModelConfig & Heads, ...others: readonly LayerState[]) {
  const { numLayers, numKvHeads, headSize, isEncoder } = config;
  const state: LayerState = { kind: 'tokens', numKvHeads, headSize };
  const states = Array.from({ length: isEncoder ? 0 : numLayers }, () => state);
  return { config, program: { states: [...states, ...others] } };
}

describe('the context that serves', () => {
  it.each([
    ["the model's where all of it fits", SHORT, GPU, 'fp16', 1024],
    ["the model's on WASM as well", SHORT, WASM, 'fp32', 1024],
    ['what the memory of a GPU holds twice: a slot and its staging row', CONFIG, GPU, 'fp16', 32_768],
    ['half as much in fp32', CONFIG, GPU, 'fp32', 16_384],
    [
      'what one buffer of a layer holds',
      CONFIG,
      gpuWith({ maxStorageBufferBindingSize: 2 ** 23 }),
      'fp16',
      8192,
    ],
    ['no more than a message carries', CONFIG, gpuWith({ maxBufferSize: 64 * GIBIBYTE }), 'fp16', 65_536],
    ["what is left of the machine's memory", CONFIG, { ...GPU, memoryBytes: GIBIBYTE }, 'fp16', 8192],
    ['what a WASM memory has for the cache', CONFIG, WASM, 'fp32', 8192],
    ['fewer than 4,096 where the cache is small', WIDE, WASM, 'fp32', 2340],
  ] as const)('is %s', (_, config, device, dtype, contextLength) => {
    const fit = fitOnDevice(modelOf(config), layoutOf(dtype), device);
    expect(fit).toMatchObject({ contextLength, obstacle: undefined });
  });
});

describe('what it costs', () => {
  it('is the weights, and the K/V of 4,096 tokens at most', () => {
    const kvBytes = 4096 * 32 * 1024;
    expect(fitOnDevice(modelOf(CONFIG), layoutOf('fp16'), GPU)).toMatchObject({
      usualContext: 4096,
      weightBytes: GIBIBYTE / 4,
      kvBytes,
      deviceBytes: GIBIBYTE / 4 + 2 * kvBytes,
    });
    expect(fitOnDevice(modelOf(WIDE), layoutOf('fp32'), WASM)).toMatchObject({
      usualContext: 2340,
      kvBytes: 2340 * 224 * 1024,
    });
  });
});

describe('state of a fixed size', () => {
  const FIXED: LayerState = { kind: 'row', shape: [2, 2 ** 20] };
  const SHARED: LayerState = { kind: 'shared', layer: 0 };

  it('takes the same for each sequence and its staging row, however long they are', () => {
    const [before, after] = [modelOf(SHORT), modelOf(SHORT, FIXED, SHARED)].map((model) =>
      fitOnDevice(model, layoutOf('fp16'), GPU),
    );
    expect((after?.kvBytes ?? 0) - (before?.kvBytes ?? 0)).toBe(2 ** 22);
    expect((after?.deviceBytes ?? 0) - (before?.deviceBytes ?? 0)).toBe(2 ** 23);
    expect(after?.contextLength).toBe(before?.contextLength);
  });

  it('leaves less of the cache for tokens', () => {
    const device = gpuWith({ maxBufferSize: 2 ** 28 });
    const large: LayerState = { kind: 'row', shape: [2, 2 ** 24] };
    expect(fitOnDevice(modelOf(CONFIG, large), layoutOf('fp16'), device).contextLength).toBe(2048);
    expect(fitOnDevice(modelOf(CONFIG), layoutOf('fp16'), device).contextLength).toBe(4096);
  });
});

describe('a model beside others', () => {
  const ENCODER: ModelConfig & Heads = { ...SHORT, isEncoder: true };
  const CHAT = { id: 'chat', isEncoder: false, bytes: 300e6 };
  const SMALL = { id: 'small', isEncoder: true, bytes: 20e6 };

  it('fits if all of them do, and names those that take the room otherwise', () => {
    const phone = { ...GPU, memoryBytes: GIBIBYTE };
    expect(
      fitOnDevice(modelOf(ENCODER), layoutOf('fp16'), { ...phone, serving: [CHAT] }).obstacle,
    ).toBeUndefined();
    const crowded = { ...phone, memoryBytes: GIBIBYTE * 0.7, serving: [CHAT, SMALL] };
    expect(fitOnDevice(modelOf(ENCODER), layoutOf('fp16'), crowded).obstacle).toBe(
      'as fp16 it needs memory of 589 MB, the 300 MB of chat and the 20 MB of small included, more than the 564 MB that a page may take on this machine (a smaller model in its place makes room)',
    );
    const cpu = { ...WASM, serving: [{ ...CHAT, bytes: 3.5e9 }] };
    expect(
      fitOnDevice(modelOf(ENCODER), layoutOf('fp32'), cpu).obstacle,
      'a memory for each',
    ).toBeUndefined();
  });

  it('that generates replaces the one that does, and counts the encoders', () => {
    const serving = [CHAT, { ...SMALL, bytes: 100e6 }];
    const device = { ...GPU, memoryBytes: GIBIBYTE / 2, serving };
    const { obstacle } = fitOnDevice(modelOf(SHORT), layoutOf('fp16'), device);
    expect(obstacle).toMatch(/ 436 MB, the 100 MB of small included/);
    expect(
      fitOnDevice(modelOf(SHORT), layoutOf('fp16'), { ...device, serving: [CHAT] }).obstacle,
    ).toBeUndefined();
  });
});

describe('an obstacle', () => {
  it.each([
    [
      'too little memory beside the weights for 4,096 tokens',
      { ...GPU, memoryBytes: GIBIBYTE / 2 },
      /^as fp16 with a context of 4096 tokens it needs memory of 537 MB, more than the 403 MB that a page may take/,
    ],
    [
      'a cache of less than 256 tokens',
      gpuWith({ maxBufferSize: 2 ** 23 }),
      /^as fp16 with a context of 256 tokens the K\/V cache takes 17 MB, more than the 9 MB that this GPU has/,
    ],
  ] as const)('is %s', (_, device, obstacle) => {
    expect(fitOnDevice(modelOf(CONFIG), layoutOf('fp16'), device).obstacle).toMatch(obstacle);
  });

  it('is a matrix that no shader binds, however short the context', () => {
    const matrix: ModelTensor = { name: 'w', shape: [1024, 8192], role: 'conv1d' };
    const device = gpuWith({ maxBufferSize: 2 ** 24 - 1 });
    const { obstacle } = fitOnDevice(modelOf(SHORT), layOut([matrix], 'fp16', 'float16'), device);
    expect(obstacle).toBe(
      'as fp16 its largest buffer takes 17 MB, more than the 17 MB that this GPU can bind',
    );
  });
});

function layoutOf(dtype: 'fp16' | 'fp32') {
  return layOut([TENSOR], dtype, dtype === 'fp16' ? 'float16' : 'float32');
}
