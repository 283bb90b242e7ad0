import type { SkippedTensor } from '../family.ts';
import type { TensorView } from '../formats/safetensors.ts';

/** A larger mask is downloaded: made here, it would take more than 256 MiB. */
const MOST_ROWS = 8192;

const CAUSAL_MASK = /^h\.\d+\.attn\.bias$/;

/** The number 1, little-endian, in each dtype that masks were saved in. */
const BYTES_OF_ONE: Readonly<Record<string, readonly number[]>> = {
  BOOL: [1],
  U8: [1],
  F16: [0x00, 0x3c],
  BF16: [0x80, 0x3f],
  F32: [0x00, 0x00, 0x80, 0x3f],
};

/**
 * Old versions of huggingface/transformers saved a causal mask with each layer: [1, 1, n, n], with ones on and below the
 * diagonal and zeros above.
 */
export function skipCausalMask(name: string, view: TensorView): SkippedTensor | undefined {
  const [batch, head, rows = 0, columns] = view.shape;
  const isSquare = view.shape.length === 4 && batch === 1 && head === 1 && rows === columns;
  const one = BYTES_OF_ONE[view.dtype];
  if (!isSquare || rows > MOST_ROWS || !one || !CAUSAL_MASK.test(name)) return undefined;
  return { ...view, contents: () => causalMask(rows, one) };
}

function causalMask(size: number, one: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(size * size * one.length);
  const ones = Uint8Array.from({ length: size * one.length }, (_, i) => one[i % one.length] ?? 0);
  for (let row = 0; row < size; row++) {
    bytes.set(ones.subarray(0, (row + 1) * one.length), row * ones.byteLength);
  }
  return bytes;
}
