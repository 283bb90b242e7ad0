import { expect, it } from 'vitest';
import type { Model } from '../models/family.ts';
import type { Heads, ModelConfig } from '../models/program/model-config.ts';
import { ProgramBuilder } from '../models/program/program-builder.ts';
import { createCpuBackend, runRows } from '../testing/cpu-rows.ts';

const CONFIG: ModelConfig & Heads = {
  vocabSize: 32,
  contextLength: 64,
  numLayers: 2,
  numHeads: 4,
  numKvHeads: 2,
  headSize: 8,
  eosTokenIds: [],
};
/** Longer than the keys that the CPU's kernels add up at once. */
const LONG: ModelConfig & Heads = { ...CONFIG, contextLength: 320 };

/** Two layers of attention alone, in which two query heads share each head of keys and values. */
function modelOf(config: ModelConfig & Heads): Model {
  const { vocabSize, numLayers, numHeads, headSize } = config;
  const width = numHeads * headSize;
  const table = { name: 'embedding.weight', shape: [vocabSize, width], role: 'embedding' } as const;
  const program = new ProgramBuilder();
  let hidden = program.embed('token', table);
  for (let layer = 0; layer < numLayers; layer++) {
    const qkv = program.qkv(hidden, `qkv.${layer}`, config, { role: 'conv1d' });
    hidden = program.attend(qkv, `attention.${layer}`, config, { isCausal: true, scale: 1 / headSize });
  }
  return {
    config,
    program: program.end(program.head(hidden, table)),
    tensorPrefix: '',
    skipTensor: () => undefined,
  };
}

const createBackend = (config = CONFIG) =>
  createCpuBackend(modelOf(config), (i, tensorIndex) => Math.sin(i * i + tensorIndex));

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

it.each([
  [64, 300],
  [256, 140],
] as const)(
  'with heads of %i values, gives the same logits to the bit for tokens that were generated, and are read again as part of a prompt',
  async (headSize, length) => {
    const backend = await createBackend({ ...LONG, headSize });
    const tokenIds = Array.from({ length }, (_, index) => (7 * index * index) % LONG.vocabSize);
    const numRead = length - 3;
    backend.resize({ numSlots: 1, numStagingRows: 1, capacity: 320, numSnapshots: 0 });
    await runRows(backend, [{ tokenIds: tokenIds.slice(0, numRead) }], { target: 'staging' });
    backend.copyRows('staging', 'slots', [[0, 0]]);
    for (let index = numRead; index < tokenIds.length; index++) {
      const generated = await runRows(backend, [
        { tokenIds: tokenIds.slice(index, index + 1), start: index },
      ]);
      const read = await runRows(backend, [{ tokenIds: tokenIds.slice(0, index + 1) }], {
        target: 'staging',
      });
      expect(read).toEqual(generated);
    }
  },
);

it('counts K/V memory by the heads of keys and values', async () => {
  const { kvCacheLimits } = await createBackend();
  expect(kvCacheLimits.bytesPerToken).toBe(2 * 2 * 2 * 8 * 4);
});
