import { layOut } from '../models/checkpoint/packed-weights.ts';
import { packedRowsOf, type WeightSource } from '../models/checkpoint/weight-source.ts';
import type { Model } from '../models/family.ts';
import { countElements } from '../models/program/model-config.ts';
import type { ForwardInput, ModelBackend } from '../runtime/model-backend.ts';

import { CpuBackend } from '../cpu/cpu-backend.ts';

/** Test support: tokens that a row feeds in, from a position on. */
interface FedRow {
  readonly tokenIds: readonly number[];
  /** 0 where left out. */
  readonly start?: number;
}

/** Test support: a model in fp32 with the weights that `valueAt` gives, for two rows of 32 tokens. */
export async function createCpuBackend(
  model: Model,
  valueAt: (i: number, tensorIndex: number) => number,
): Promise<CpuBackend> {
  const packed = layOut(model.program.weights, 'fp32', 'float32');
  const weights: WeightSource = {
    async stream(take) {
      for (const [index, tensor] of packed.tensors.entries()) {
        const length = countElements(tensor.shape);
        const values = Float32Array.from({ length }, (_, i) => valueAt(i, index));
        const parts = [new Uint8Array(values.buffer)];
        take({ tensor, firstRow: 0, numRows: packedRowsOf(tensor), parts });
      }
    },
    bytes: () => Promise.reject(new Error('Not read on the CPU')),
  };
  const backend = await CpuBackend.create({ model, packed, weights });
  backend.resize({ numSlots: 2, numStagingRows: 2, capacity: 32, numSnapshots: 0 });
  return backend;
}

/** Test support: one pass over these rows, padded to the longest. Resolves with a copy of its logits. */
export async function runRows(
  backend: Pick<ModelBackend, 'forward' | 'readLogits'>,
  rows: readonly FedRow[],
  { target = 'slots', ...others }: Partial<Pick<ForwardInput, 'target' | 'scoredTokens'>> = {},
): Promise<Float32Array> {
  const tokensPerRow = Math.max(...rows.map(({ tokenIds }) => tokenIds.length));
  const places = rows.flatMap(({ tokenIds, start = 0 }) =>
    Array.from({ length: tokensPerRow }, (_, i) => ({ id: tokenIds[i] ?? 0, position: start + i })),
  );
  await backend.forward({
    target,
    numRows: rows.length,
    tokensPerRow,
    ids: Int32Array.from(places, ({ id }) => id),
    positions: Int32Array.from(places, ({ position }) => position),
    lastIndices: Int32Array.from(rows, ({ tokenIds, start = 0 }) => start + tokenIds.length - 1),
    ...others,
  });
  const numRows = rows.length + (others.scoredTokens?.length ?? 0);
  return (await backend.readLogits(numRows)).slice();
}
