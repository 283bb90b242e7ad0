import { expect, it } from 'vitest';

import { rotate } from '../../models/checkpoint/rotation.ts';
import { distance, KernelBench, randomBytes, randoms, VARIANTS } from './test-support.ts';

it('rows in blocks of q8 become turned rows of int8 with a scale and a sum each', async () => {
  const [numRows, inputs] = [3, 192];
  const codes = randomBytes(numRows * inputs);
  const blockScales = randoms((numRows * inputs) / 32, 0.1, 2);
  const zeroPoints = randomBytes((numRows * inputs) / 32, 3);
  // The last row is 0.
  codes.fill(7, 2 * inputs);
  zeroPoints.fill(7, 12);
  const expected = Float32Array.from(
    codes,
    (code, i) => (code - (zeroPoints[i >> 5] ?? NaN)) * (blockScales[i >> 5] ?? NaN),
  );
  for (let row = 0; row < numRows; row++) rotate(expected.subarray(row * inputs, (row + 1) * inputs));
  for (const variant of VARIANTS) {
    const bench = await KernelBench.of(variant);
    const [codesAt, blocksAt, zerosAt] = [codes, blockScales, zeroPoints].map((each) => bench.put(each));
    const [scales, sums, scratch] = [bench.room(12), bench.room(12), bench.room(4 * inputs)];
    bench.kernels.requantizeRows(
      codesAt ?? 0,
      blocksAt ?? 0,
      zerosAt ?? 0,
      scales,
      sums,
      numRows,
      inputs,
      64,
      scratch,
    );
    const int8 = new Int8Array(bench.floats(codesAt ?? 0, (numRows * inputs) / 4).buffer);
    const rowScales = bench.floats(scales, numRows);
    for (let row = 0; row < numRows; row++) {
      const part = [...int8.subarray(row * inputs, (row + 1) * inputs)];
      const scale = rowScales[row] ?? NaN;
      const values = part.map((code) => code * scale);
      expect(distance(values, expected.subarray(row * inputs, (row + 1) * inputs))).toBeLessThanOrEqual(
        0.501 * scale,
      );
      expect(new Int32Array(bench.floats(sums, 3).buffer)[row]).toBe(
        part.reduce((sum, code) => sum + code, 0),
      );
    }
    expect(rowScales[2]).toBe(0);
  }
});
