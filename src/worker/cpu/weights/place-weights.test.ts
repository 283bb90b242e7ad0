import { describe, expect, it } from 'vitest';
import reference from '../../../../tools/reference/fixtures/int8-reference.json' with { type: 'json' };
import { memoryFile } from '../../models/formats/checkpoint-files.ts';
import { checkpointWeights } from '../../models/checkpoint/convert-weights.ts';
import { layOut } from '../../models/checkpoint/packed-weights.ts';
import { CpuMemory } from '../memory/cpu-memory.ts';
import { loadKernels, RESERVED_BYTES } from '../kernels/load-kernels.ts';
import { placeWeights } from './place-weights.ts';

const { numRows, length, weights, codes, scales } = reference;

async function readAsInt8() {
  const shape = [numRows, length];
  const bytes = new Uint8Array(Float32Array.from(weights).buffer);
  const source = { name: 'w', shape, dtype: 'F32', begin: 0, end: bytes.byteLength } as const;
  const layout = layOut([{ name: 'w', shape, role: 'linear' }], 'q8', 'float32');
  const tensors = new Map([['w', [{ ...source, file: memoryFile('w', bytes) }]]]);
  const stored = checkpointWeights({ tensors }, { layout });
  const memory = new CpuMemory(RESERVED_BYTES);
  const { kernels } = await loadKernels(memory.memory, false);
  const matrix = (await placeWeights(stored.weights, memory, kernels)).get('w');
  if (matrix?.encoding !== 'int8') throw new Error('Expected int8');
  return {
    codes: new Int8Array(memory.bytes.buffer, matrix.address, numRows * length),
    scales: memory.floatsAt(matrix.scales, numRows),
  };
}

/** The reference has them as [in, out]. */
function expectedCode(i: number): number {
  return codes[(i % length) * numRows + Math.floor(i / length)] ?? NaN;
}

describe('weights in int8', () => {
  it('are rotated and scaled by output as NumPy does it, but for the error of 8 bits in blocks', async () => {
    const found = await readAsInt8();
    const differences = found.codes.map((code, i) => Math.abs(code - expectedCode(i)));
    // A step of a block is at most about one of a row, so a code moves by one at the most.
    expect(Math.max(...differences)).toBeLessThanOrEqual(1);
    for (const [i, scale] of found.scales.entries()) expect(scale / (scales[i] ?? NaN)).toBeCloseTo(1, 1);
  });
});
