import { expect, it } from 'vitest';
import { layOut } from '../../models/checkpoint/packed-weights.ts';
import type { Model } from '../../models/family.ts';
import { GRAPH_IO } from '../../models/graph/graph-io.ts';
import { ModelGraph } from '../../models/graph/model-graph.ts';
import { countElements, type ModelConfig, type ModelTensor } from '../../models/model-config.ts';
import { WasmBackend } from './wasm-backend.ts';

const CONFIG: ModelConfig = {
  vocabSize: 32,
  contextLength: 64,
  numLayers: 2,
  numHeads: 4,
  numKvHeads: 2,
  headSize: 8,
  eosTokenIds: [],
};
const WIDTH = CONFIG.numHeads * CONFIG.headSize;
const QKV_WIDTH = (CONFIG.numHeads + 2 * CONFIG.numKvHeads) * CONFIG.headSize;

const TENSORS: readonly ModelTensor[] = [
  { name: 'embedding', shape: [CONFIG.vocabSize, WIDTH], role: 'embedding' },
  { name: 'qkv.0', shape: [WIDTH, QKV_WIDTH], role: 'conv1d' },
  { name: 'qkv.1', shape: [WIDTH, QKV_WIDTH], role: 'conv1d' },
];

/** Two layers of attention alone, in which two query heads share each head of keys and values. */
const MODEL: Model = {
  config: CONFIG,
  tensors: TENSORS,
  tensorPrefix: '',
  skipTensor: () => undefined,
  buildGraph(target) {
    const graph = new ModelGraph(CONFIG, target);
    graph.weights.lookUp(GRAPH_IO.ids, 'embedding', 'hidden.0');
    for (let layer = 0; layer < CONFIG.numLayers; layer++) {
      graph.weights.multiply(`hidden.${layer}`, `qkv.${layer}`, `product.${layer}`);
      graph.addAttention(layer, `product.${layer}`, `hidden.${layer + 1}`, 1);
    }
    graph.addHead(`hidden.${CONFIG.numLayers}`, 'embedding');
    return graph.encode();
  },
};

async function createBackend(): Promise<WasmBackend> {
  const packed = layOut(TENSORS, 'fp32', 'float32');
  const weights = new Float32Array(packed.size / 4);
  for (const { offset, shape } of packed.tensors) {
    for (let i = 0; i < countElements(shape); i++) weights[offset / 4 + i] = Math.sin(i * i + offset);
  }
  const backend = await WasmBackend.create({
    model: MODEL,
    packed,
    weights: new Uint8Array(weights.buffer),
    numThreads: 1,
  });
  backend.resize({ numSlots: 2, numStagingRows: 2, capacity: 32 });
  return backend;
}

async function run(
  backend: WasmBackend,
  rows: readonly { readonly tokenIds: readonly number[]; readonly start: number }[],
): Promise<Float32Array> {
  const tokensPerRow = Math.max(...rows.map(({ tokenIds }) => tokenIds.length));
  const places = rows.flatMap(({ tokenIds, start }) =>
    Array.from({ length: tokensPerRow }, (_, i) => ({ id: tokenIds[i] ?? 0, position: start + i })),
  );
  await backend.forward({
    target: 'slots',
    numRows: rows.length,
    tokensPerRow,
    ids: Int32Array.from(places, ({ id }) => id),
    positions: Int32Array.from(places, ({ position }) => position),
    lastIndices: Int32Array.from(rows, ({ tokenIds, start }) => start + tokenIds.length - 1),
  });
  return (await backend.readLogits()).slice();
}

it('decodes rows of different lengths where query heads share keys and values', async () => {
  const backend = await createBackend();
  const [long, short] = [
    [3, 1, 4, 1, 5, 9, 2, 6],
    [27, 18, 28],
  ];
  const whole = await run(backend, [
    { tokenIds: long, start: 0 },
    { tokenIds: short, start: 0 },
  ]);
  await run(backend, [
    { tokenIds: long.slice(0, -1), start: 0 },
    { tokenIds: short.slice(0, -1), start: 0 },
  ]);
  const decoded = await run(backend, [
    { tokenIds: long.slice(-1), start: long.length - 1 },
    { tokenIds: short.slice(-1), start: short.length - 1 },
  ]);
  expect(decoded).toHaveLength(2 * CONFIG.vocabSize);
  expect(Math.max(...decoded.map((logit, i) => Math.abs(logit - (whole[i] ?? NaN))))).toBeLessThan(1e-3);
});

it('counts K/V memory by the heads of keys and values', async () => {
  const { kvCacheLimits } = await createBackend();
  expect(kvCacheLimits.bytesPerToken).toBe(2 * 2 * 2 * 8 * 4);
});
