import type { SkippedMask } from '../checkpoint/checkpoint.ts';

/** 1 in each dtype that masks were saved in, little-endian. */
const ONE_OF_DTYPE: Readonly<Record<string, readonly number[]>> = {
  BOOL: [1],
  U8: [1],
  F16: [0x00, 0x3c],
  BF16: [0x80, 0x3f],
  F32: [0x00, 0x00, 0x80, 0x3f],
};

/** The bytes of a mask that was not fetched, as PyTorch saved it; undefined for a dtype that none is known in. */
export function causalMaskBytes({
  shape,
  dtype,
  begin,
  end,
}: Omit<SkippedMask, 'name'>): Uint8Array | undefined {
  const one = ONE_OF_DTYPE[dtype];
  const size = shape.at(-1) ?? 0;
  if (!one || end - begin !== size * size * one.length) return undefined;
  const bytes = new Uint8Array(end - begin);
  const ones = Uint8Array.from({ length: size * one.length }, (_, i) => one[i % one.length] ?? 0);
  for (let row = 0; row < size; row++) {
    bytes.set(ones.subarray(0, (row + 1) * one.length), row * ones.byteLength);
  }
  return bytes;
}
