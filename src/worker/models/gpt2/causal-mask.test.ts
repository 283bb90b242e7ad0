import { describe, expect, it } from 'vitest';
import type { TensorView } from '../formats/safetensors.ts';
import { skipCausalMask } from './causal-mask.ts';

const SHAPE = [1, 1, 3, 3];

const maskBytes = (view: TensorView) => skipCausalMask('h.0.attn.bias', view)?.contents();

describe('the bytes of a causal mask', () => {
  it('are ones on and below the diagonal, in its dtype', () => {
    const bytes = maskBytes({ shape: SHAPE, dtype: 'F32', begin: 100, end: 136 });
    expect([...new Float32Array(bytes?.slice().buffer ?? new ArrayBuffer())]).toEqual([
      1, 0, 0, 1, 1, 0, 1, 1, 1,
    ]);
    expect(maskBytes({ shape: SHAPE, dtype: 'U8', begin: 0, end: 9 })).toEqual(
      Uint8Array.of(1, 0, 0, 1, 1, 0, 1, 1, 1),
    );
    // 1 is 3C00 as binary16 and 3F80 as bfloat16.
    expect(maskBytes({ shape: [1, 1, 1, 1], dtype: 'F16', begin: 0, end: 2 })).toEqual(
      Uint8Array.of(0, 0x3c),
    );
    expect(maskBytes({ shape: [1, 1, 1, 1], dtype: 'BF16', begin: 0, end: 2 })).toEqual(
      Uint8Array.of(0x80, 0x3f),
    );
  });

  it('are not known in a dtype that no mask was ever saved in', () => {
    expect(maskBytes({ shape: SHAPE, dtype: 'I64', begin: 0, end: 72 })).toBeUndefined();
  });
});
