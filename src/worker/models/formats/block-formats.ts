/** How GGUF stores a run of values: a block of bytes that is decoded by itself. Sizes and layouts as in `ggml-common.h`. */
export interface BlockFormat {
  /** Values of a block. */
  readonly numValues: number;
  /** Bytes of a block. */
  readonly numBytes: number;
  /**
   * Writes the values of the block at byte `at`, from `start` on. All arithmetic is exact until the last rounding to fp32.
   *
   * @param blocks One view for all blocks: a view for each takes as long as its values.
   */
  decode(blocks: DataView, at: number, values: Float32Array, start: number): void;
}

const QK = 32;
const QK_K = 256;

/** The block formats that are read, by GGUF's names. */
export const BLOCK_FORMATS = {
  Q4_0: small(4, 8),
  Q4_1: small(4),
  Q5_0: small(5, 16),
  Q5_1: small(5),
  Q8_0: {
    numValues: QK,
    numBytes: 34,
    decode(blocks, at, values, start) {
      const scale = blocks.getFloat16(at, true);
      for (let i = 0; i < QK; i++) values[start + i] = scale * blocks.getInt8(at + 2 + i);
    },
  },
  Q4_K: super256(4),
  Q5_K: super256(5),
  Q6_K: {
    numValues: QK_K,
    numBytes: 210,
    decode(blocks, at, values, start) {
      const scale = blocks.getFloat16(at + 208, true);
      for (let i = 0; i < QK_K; i++) {
        // Each half of 128 values has 64 bytes of low bits for its lines k and k + 64, and 32 bytes of high bits.
        const [half, k] = [i >> 7, i & 127];
        const low = (blocks.getUint8(at + 64 * half + (k & 63)) >> (4 * (k >> 6))) & 0xf;
        const high = (blocks.getUint8(at + 128 + 32 * half + (k & 31)) >> (2 * (k >> 5))) & 3;
        values[start + i] = scale * blocks.getInt8(at + 192 + (i >> 4)) * ((low | (high << 4)) - 32);
      }
    },
  },
} as const satisfies Readonly<Record<string, BlockFormat>>;

export type BlockDtype = keyof typeof BLOCK_FORMATS;

/**
 * 32 values with a scale and, without `zero`, a minimum. The first 16 are in the lower halves of the bytes, the others in the upper
 * ones. A fifth bit is in 32 bits before them.
 *
 * @param zero The integer that stands for 0.
 */
function small(bits: 4 | 5, zero?: number): BlockFormat {
  const fifthAt = zero === undefined ? 4 : 2;
  const lowAt = bits === 5 ? fifthAt + 4 : fifthAt;
  return {
    numValues: QK,
    numBytes: lowAt + QK / 2,
    decode(blocks, at, values, start) {
      const scale = blocks.getFloat16(at, true);
      const minimum = zero === undefined ? blocks.getFloat16(at + 2, true) : -zero * scale;
      const fifths = bits === 5 ? blocks.getUint32(at + fifthAt, true) : 0;
      for (let i = 0; i < QK; i++) {
        const low = (blocks.getUint8(at + lowAt + (i & 15)) >> (4 * (i >> 4))) & 0xf;
        values[start + i] = scale * (low | (((fifths >>> i) & 1) << 4)) + minimum;
      }
    },
  };
}

/** 8 groups of 32 values, each with a scale and a minimum of 6 bits that are multiples of two of the block's. */
function super256(bits: 4 | 5): BlockFormat {
  const lowAt = bits === 5 ? 48 : 16;
  return {
    numValues: QK_K,
    numBytes: lowAt + QK_K / 2,
    decode(blocks, at, values, start) {
      const [scale, minimum] = [blocks.getFloat16(at, true), blocks.getFloat16(at + 2, true)];
      for (let group = 0; group < 8; group++) {
        const [factor, offset] = sixBits(blocks, at, group);
        for (let i = 0; i < QK; i++) {
          // Groups 2k and 2k + 1 share bytes; the fifth bits of all groups share 32 bytes.
          const low = (blocks.getUint8(at + lowAt + QK * (group >> 1) + i) >> (4 * (group & 1))) & 0xf;
          const fifth = bits === 5 ? (blocks.getUint8(at + 16 + i) >> group) & 1 : 0;
          values[start + QK * group + i] = scale * factor * (low | (fifth << 4)) - minimum * offset;
        }
      }
    },
  };
}

/** The scale and the minimum of a group, from the 12 bytes that hold 16 such numbers. */
function sixBits(blocks: DataView, block: number, group: number): readonly [number, number] {
  const at = block + 4 + (group & 3);
  const [first, second] = [blocks.getUint8(at), blocks.getUint8(at + 4)];
  if (group < 4) return [first & 63, second & 63];
  const third = blocks.getUint8(at + 8);
  return [(third & 0xf) | ((first >> 2) & 0x30), (third >> 4) | ((second >> 2) & 0x30)];
}

export function isBlockDtype(dtype: string): dtype is BlockDtype {
  return Object.hasOwn(BLOCK_FORMATS, dtype);
}

/** @param bytes Whole blocks. */
export function decodeBlocks(bytes: Uint8Array<ArrayBuffer>, dtype: BlockDtype): Float32Array<ArrayBuffer> {
  const format: BlockFormat = BLOCK_FORMATS[dtype];
  const { numValues, numBytes } = format;
  const numBlocks = bytes.byteLength / numBytes;
  const values = new Float32Array(numBlocks * numValues);
  const blocks = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let index = 0; index < numBlocks; index++)
    format.decode(blocks, index * numBytes, values, index * numValues);
  return values;
}
