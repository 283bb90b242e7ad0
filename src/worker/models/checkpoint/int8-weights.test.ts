import { describe, expect, it } from 'vitest';
import reference from '../../../../tools/reference/fixtures/int8-reference.json' with { type: 'json' };
import { memoryFile } from './checkpoint-files.ts';
import { packInMemory } from './convert-weights.ts';
import { asInt8, int8Layout } from './int8-weights.ts';
import { layOut } from './packed-weights.ts';

const { numRows, length, weights, codes, scales } = reference;

async function int8Of(dtype: 'q8' | 'q4') {
  const shape = [numRows, length];
  const bytes = new Uint8Array(Float32Array.from(weights).buffer);
  const source = { name: 'w', shape, dtype: 'F32', begin: 0, end: bytes.byteLength } as const;
  const layout = layOut([{ name: 'w', shape, role: 'linear' }], dtype, 'float32');
  const tensors = new Map([['w', [{ ...source, file: memoryFile('w', bytes) }]]]);
  const stored = await packInMemory({ tensors }, { layout });
  const { packed, weights: file } = asInt8(stored);
  const [matrix] = packed.tensors;
  if (!matrix?.scales) throw new Error('Expected a matrix with scales');
  const part = ({ offset, length: size }: { offset: number; length: number }): Uint8Array<ArrayBuffer> =>
    new Uint8Array(file.subarray(offset, offset + size));
  return {
    readScales: () => new Float32Array(part(matrix.scales ?? matrix).buffer),
    readCodes: () => new Int8Array(part(matrix).buffer),
  };
}

describe('weights in int8', () => {
  it('are rotated, transposed and scaled by output as NumPy does it, but for the error of 8 bits in blocks', async () => {
    const { readCodes, readScales } = await int8Of('q8');
    const differences = readCodes().map((code, i) => Math.abs(code - (codes[i] ?? NaN)));
    expect(differences).toHaveLength(numRows * length);
    // A step of a block is at most about one of a row, so a code moves by one at the most.
    expect(Math.max(...differences)).toBeLessThanOrEqual(1);
    for (const [i, scale] of readScales().entries()) expect(scale / (scales[i] ?? NaN)).toBeCloseTo(1, 1);
  });

  it('of 4 bits have no larger error than the 4 bits', async () => {
    const { readCodes, readScales } = await int8Of('q4');
    const found = readScales();
    const errors = readCodes().map((code, i) => {
      const row = i % numRows;
      return code * (found[row] ?? NaN) - (codes[i] ?? NaN) * (scales[row] ?? NaN);
    });
    expect(Math.hypot(...errors) / Math.hypot(...weights)).toBeLessThan(0.09);
  });

  it('are the same in whichever order values and scales are read', async () => {
    const [first, second] = [await int8Of('q8'), await int8Of('q8')];
    const [scalesFirst, codesThen] = [first.readScales(), first.readCodes()];
    expect([second.readCodes(), second.readScales()]).toEqual([codesThen, scalesFirst]);
  });

  it('take a byte each and four an output, and other tensors what they took', () => {
    const norm = { name: 'norm', shape: [64], role: 'plain' } as const;
    const matrix = { name: 'w', shape: [128, 64], role: 'linear' } as const;
    const { size } = int8Layout(layOut([norm, matrix], 'q8', 'float32'));
    expect(size).toBe(64 * 4 + 128 * 64 + 128 * 4);
  });
});
