import { expect, it } from 'vitest';

import type { KernelVariant } from './compile-kernels.ts';
import { fastestOf } from './fastest-kernels.ts';
import { readKernels } from './load-kernels.ts';

/** Instructions as their bytes: behind 0xfd for SIMD, a number in LEB128. */
const DOT_OF_INT16 = [0xfd, 0xba, 0x01];
const PRODUCT_OF_INT32 = [0xfd, 0xb5, 0x01];
const RELAXED_DOT = [0xfd, 0x93, 0x02];
/** May or may not round between its product and its sum. */
const RELAXED_MULTIPLY_ADD = [0xfd, 0x85, 0x02];

function placesOf(bytes: Uint8Array, instruction: readonly number[]): readonly number[] {
  return [...bytes.keys()].filter((at) => instruction.every((byte, i) => bytes[at + i] === byte));
}

async function modules(): Promise<ReadonlyMap<KernelVariant, Uint8Array<ArrayBuffer>>> {
  return new Map([
    ['relaxed-simd', await readKernels('relaxed-simd')],
    ['simd', await readKernels('simd')],
  ]);
}

/** In which runs of the first or of the second of two modules, eight at a time, take longer. */
function clockOf(...runMs: readonly [number, number]) {
  let [reads, nowMs] = [0, 0];
  return {
    now() {
      const isEnd = reads % 2 === 1;
      if (isEnd) nowMs += runMs[Math.floor(reads / 16) % 2] ?? 0;
      reads += 1;
      return nowMs;
    },
  };
}

it('takes the module whose products take less time', async () => {
  expect(await fastestOf(await modules(), clockOf(1, 2))).toBe('relaxed-simd');
  expect(await fastestOf(await modules(), clockOf(2, 1))).toBe('simd');
});

it('takes none whose sums are wrong, however fast', async () => {
  const wrong = await readKernels('simd');
  for (const at of placesOf(wrong, DOT_OF_INT16)) wrong.set(PRODUCT_OF_INT32, at);
  const both = new Map([...(await modules()), ['relaxed-simd', wrong] as const]);
  expect(await fastestOf(both, clockOf(1, 2))).toBe('simd');
});

it('has the dot of relaxed SIMD in one module alone, and nothing else of it', async () => {
  const [relaxed, plain] = [await readKernels('relaxed-simd'), await readKernels('simd')];
  expect(placesOf(relaxed, RELAXED_DOT).length).toBeGreaterThan(0);
  expect(placesOf(plain, RELAXED_DOT)).toEqual([]);
  for (const bytes of [relaxed, plain]) expect(placesOf(bytes, RELAXED_MULTIPLY_ADD)).toEqual([]);
  expect(WebAssembly.validate(relaxed)).toBe(true);
});
