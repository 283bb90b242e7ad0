import { expect, it } from 'vitest';
import type { Model } from '../../models/family.ts';
import { GRAPH_IO } from '../../models/graph/graph-io.ts';
import { ModelGraph } from '../../models/graph/model-graph.ts';
import type { ModelConfig, ModelTensor } from '../../models/model-config.ts';
import { createWasmBackend, runRows } from '../../testing/wasm-rows.ts';

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

const createBackend = () => createWasmBackend(MODEL, (i, tensorIndex) => Math.sin(i * i + tensorIndex));

it('decodes rows of different lengths where query heads share keys and values', async () => {
  const backend = await createBackend();
  const [long, short] = [
    [3, 1, 4, 1, 5, 9, 2, 6],
    [27, 18, 28],
  ];
  const whole = await runRows(backend, [{ tokenIds: long }, { tokenIds: short }]);
  await runRows(backend, [{ tokenIds: long.slice(0, -1) }, { tokenIds: short.slice(0, -1) }]);
  const decoded = await runRows(backend, [
    { tokenIds: long.slice(-1), start: long.length - 1 },
    { tokenIds: short.slice(-1), start: short.length - 1 },
  ]);
  expect(decoded).toHaveLength(2 * CONFIG.vocabSize);
  expect(Math.max(...decoded.map((logit, i) => Math.abs(logit - (whole[i] ?? NaN))))).toBeLessThan(1e-3);
});

it('gives the same logits to the bit for a prompt in chunks', async () => {
  const backend = await createBackend();
  const tokenIds = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5];
  const whole = await runRows(backend, [{ tokenIds }], { target: 'staging' });
  await runRows(backend, [{ tokenIds: tokenIds.slice(0, 3) }], { target: 'staging' });
  await runRows(backend, [{ tokenIds: tokenIds.slice(3, 10), start: 3 }], { target: 'staging' });
  const last = await runRows(backend, [{ tokenIds: tokenIds.slice(10), start: 10 }], { target: 'staging' });
  expect(last).toEqual(whole);
});

it('counts K/V memory by the heads of keys and values', async () => {
  const { kvCacheLimits } = await createBackend();
  expect(kvCacheLimits.bytesPerToken).toBe(2 * 2 * 2 * 8 * 4);
});
