import { describe, expect, it } from 'vitest';
import { countElements } from '../../models/model-config.ts';
import { KvRows, type KvArray } from './kv-rows.ts';

const CONFIG = { numLayers: 1, numHeads: 1, numKvHeads: 2, headSize: 2 };

/** Query, keys and values of a token. The digits of a key or value spell token, kind, head and element. */
function qkvOf(token: number): number[] {
  const heads = (kind: number): number[] => [0, 1, 10, 11].map((i) => token * 1000 + kind * 100 + i);
  return [-1, -1, ...heads(1), ...heads(2)];
}

const allocate = (length: number): KvArray => ({
  floats: new Float32Array(length).fill(NaN),
  free() {},
});

function withTokens(numRows: number, capacity: number): KvRows<KvArray> {
  const rows = new KvRows(CONFIG, allocate);
  rows.resize(numRows, capacity);
  return rows;
}

function append(
  rows: KvRows<KvArray>,
  tokens: readonly (readonly number[])[],
  start: number,
  lasts: readonly number[],
): void {
  const tokensPerRow = tokens[0]?.length ?? 0;
  const positions = tokens.flatMap((row) => row.map((_, i) => start + i));
  rows.append(0, Float32Array.from(tokens.flat().flatMap((token) => qkvOf(token))), {
    target: 'slots',
    numRows: tokens.length,
    tokensPerRow,
    ids: new Int32Array(positions.length),
    positions: Int32Array.from(positions),
    lastIndices: Int32Array.from(lasts),
  });
}

const arraysOf = (rows: KvRows<KvArray>, numRows: number): number[][] =>
  rows.inputs(numRows).map(({ array, dims }) => [...array.floats.subarray(0, countElements(dims))]);

// Keys: [heads, head size, capacity]. Values: [heads, capacity, head size].
const TWO_TOKENS = [
  [1100, 2100, 0, 1101, 2101, 0, 1110, 2110, 0, 1111, 2111, 0],
  [1200, 1201, 2200, 2201, 0, 0, 1210, 1211, 2210, 2211, 0, 0],
];

describe('KvRows', () => {
  it('stores keys transposed and values as they come, each at its position', () => {
    const rows = withTokens(1, 3);
    append(rows, [[1]], 0, [0]);
    append(rows, [[2]], 1, [1]);
    expect(arraysOf(rows, 1)).toEqual(TWO_TOKENS);
  });

  it("leaves out a prompt's padding", () => {
    const rows = withTokens(2, 3);
    append(
      rows,
      [
        [9, 9, 9],
        [1, 2, 7],
      ],
      0,
      [2, 1],
    );
    expect(arraysOf(rows, 2).map((array) => array.slice(12))).toEqual(TWO_TOKENS);
  });

  it('keeps the tokens that fit when rows or the capacity grow and shrink', () => {
    const rows = withTokens(1, 2);
    append(rows, [[1, 2]], 0, [1]);
    rows.resize(2, 5);
    append(rows, [[3], [4]], 2, [2, 2]);
    rows.resize(1, 3);
    const keysOfThree = [1100, 2100, 3100, 1101, 2101, 3101, 1110, 2110, 3110, 1111, 2111, 3111];
    expect(arraysOf(rows, 1)[0]).toEqual(keysOfThree);
    rows.resize(1, 2);
    rows.resize(1, 3);
    expect(arraysOf(rows, 1)).toEqual(TWO_TOKENS);
  });

  it('frees what it has replaced, and everything in the end', () => {
    let numArrays = 0;
    const rows = new KvRows(CONFIG, (length) => {
      numArrays++;
      return { floats: new Float32Array(length), free: () => numArrays-- };
    });
    rows.resize(2, 4);
    rows.resize(3, 8);
    rows.resize(1, 2);
    expect(numArrays).toBe(2);
    rows.free();
    expect(numArrays).toBe(0);
    rows.resize(1, 2);
    expect(numArrays).toBe(2);
  });

  it('copies a row to another cache, and to another row', () => {
    const staging = withTokens(1, 3);
    append(staging, [[1, 2]], 0, [1]);
    const slots = withTokens(2, 3);
    staging.copyTo(slots, [[0, 1]]);
    slots.copyTo(slots, [[1, 0]]);
    expect(arraysOf(slots, 1)).toEqual(TWO_TOKENS);
  });

  it('returns the first rows with their dimensions, and fewer entries for a cache that is not read', () => {
    const rows = withTokens(3, 4);
    expect(rows.inputs(2).map(({ dims }) => dims)).toEqual([
      [2, 2, 2, 4],
      [2, 2, 4, 2],
    ]);
    expect(rows.inputs(2, 1).map(({ dims }) => dims)).toEqual([
      [2, 2, 2, 1],
      [2, 2, 1, 2],
    ]);
  });
});
