import { describe, expect, it, vi } from 'vitest';
import { readModel } from '../../models/families/families.ts';
import { rowBytesOf, type LayerState } from '../../models/program/layer-state.ts';
import { HUB_CONFIGS } from '../../testing/hub-configs.ts';
import { CpuMemory } from './cpu-memory.ts';
import { CpuStateRows } from './state-rows.ts';

const LAYERS = [
  { kind: 'tokens', numKvHeads: 2, headSize: 2 },
  { kind: 'tokens', numKvHeads: 1, headSize: 4 },
] as const;
/** The layers that keep something: those, and one with state of a fixed size. */
const STATES: readonly LayerState[] = [
  ...LAYERS,
  { kind: 'shared', layer: 0 },
  { kind: 'row', shape: [2, 3] },
];
const FIXED = LAYERS.length;

const fixedOf = (memory: CpuMemory, rows: CpuStateRows, row: number): Float32Array =>
  memory.floatsAt(rows.placeOf(FIXED, row).keys, 6);

/** Each value of a token tells its layer, row, head and position. */
const valueOf = (layer: number, row: number, head: number, position: number): number =>
  1 + layer + 10 * row + 100 * head + 1000 * position;

function fill(memory: CpuMemory, rows: CpuStateRows, row: number, numPositions: number): void {
  forEachToken(rows, row, numPositions, (address, headSize, value) =>
    memory.floatsAt(address, headSize).fill(value),
  );
}

/** Tokens of `row` that don't have the values that `from` had. */
function wrongIn(
  memory: CpuMemory,
  rows: CpuStateRows,
  row: number,
  from: number,
  numPositions: number,
): number {
  let numWrong = 0;
  forEachToken(rows, row, numPositions, (address, headSize, value) => {
    const expected = value + 10 * (from - row);
    if (!memory.floatsAt(address, headSize).every((found) => found === expected)) numWrong += 1;
  });
  return numWrong;
}

function forEachToken(
  rows: CpuStateRows,
  row: number,
  numPositions: number,
  visit: (address: number, headSize: number, value: number) => void,
): void {
  for (const [layer, { numKvHeads, headSize }] of LAYERS.entries()) {
    const { keys, values, headStride } = rows.placeOf(layer, row);
    for (const start of [keys, values])
      for (let head = 0; head < numKvHeads; head++)
        for (let position = 0; position < numPositions; position++)
          visit(
            start + 4 * (head * headStride + position * headSize),
            headSize,
            valueOf(layer, row, head, position),
          );
  }
}

const NUM_TOKENS = 4096;

/** By how much more the blocks of all layers may be rounded up. */
const SLACK = 2 ** 17;

const QWEN35 = {
  model_type: 'qwen3_5_text',
  hidden_size: 1024,
  intermediate_size: 3584,
  linear_num_value_heads: 16,
  max_position_embeddings: 262_144,
  num_attention_heads: 8,
  num_hidden_layers: 24,
  num_key_value_heads: 2,
  vocab_size: 248_320,
};

it.each([
  ['LFM2 1.2B', HUB_CONFIGS['LiquidAI/LFM2-1.2B'], 1, 101e6],
  ['LFM2 1.2B', HUB_CONFIGS['LiquidAI/LFM2-1.2B'], 8, 101e6],
  ['Qwen3.5 0.8B', QWEN35, 1, 121e6],
  ['Qwen3.5 0.8B', QWEN35, 8, 121e6],
] as const)(
  'rows of 4,096 tokens take the memory that is counted: %s, %#',
  (_, config, numRows, bytesOfOne) => {
    const { states } = readModel(config, undefined).program;
    const { bytesPerRow, bytesPerToken } = rowBytesOf(states, Float32Array.BYTES_PER_ELEMENT);
    const counted = bytesPerRow + NUM_TOKENS * bytesPerToken;
    expect(Math.round(counted / 1e6) * 1e6).toBe(bytesOfOne);
    const memory = new CpuMemory(0);
    const before = memory.byteLength;
    new CpuStateRows(memory, states).resize(numRows, NUM_TOKENS);
    const taken = memory.byteLength - before;
    expect(taken).toBeGreaterThanOrEqual(numRows * counted - before);
    expect(taken).toBeLessThan(numRows * counted + SLACK);
  },
);

describe('CpuStateRows', () => {
  it('keeps what fits when rows and capacity grow and shrink', () => {
    const memory = new CpuMemory(0);
    const rows = new CpuStateRows(memory, STATES);
    rows.resize(2, 4);
    for (const row of [0, 1]) fill(memory, rows, row, 4);
    for (const [numRows, capacity, kept] of [
      [3, 8, 4],
      [2, 3, 3],
    ] as const) {
      rows.resize(numRows, capacity);
      for (const row of [0, 1]) expect(wrongIn(memory, rows, row, row, kept)).toBe(0);
    }
  });

  it('keeps all rows where a layer finds no memory, and goes on from there', () => {
    const memory = new CpuMemory(0);
    const rows = new CpuStateRows(memory, STATES);
    rows.resize(2, 4);
    for (const row of [0, 1]) fill(memory, rows, row, 4);
    const allocate = memory.allocate.bind(memory);
    const spy = vi.spyOn(memory, 'allocate').mockImplementationOnce(allocate);
    spy.mockImplementationOnce(() => {
      throw new RangeError('full');
    });
    expect(() => rows.resize(3, 8)).toThrow('full');
    expect([0, 1].map((row) => wrongIn(memory, rows, row, row, 4))).toEqual([0, 0]);
    rows.resize(3, 8);
    expect([0, 1].map((row) => wrongIn(memory, rows, row, row, 4))).toEqual([0, 0]);
  });

  it('copies rows to other rows, and to those of another state', () => {
    const memory = new CpuMemory(0);
    const [slots, staging] = [new CpuStateRows(memory, STATES), new CpuStateRows(memory, STATES)];
    slots.resize(2, 4);
    staging.resize(1, 4);
    fill(memory, staging, 0, 4);
    staging.copyTo(slots, [[0, 1]]);
    slots.copyTo(slots, [[1, 0]]);
    expect([0, 1].map((row) => wrongIn(memory, slots, row, 0, 4))).toEqual([0, 0]);
  });

  it('takes memory again that it has given back', () => {
    const memory = new CpuMemory(0);
    const rows = new CpuStateRows(memory, STATES);
    rows.resize(64, 128);
    const { byteLength } = memory;
    for (let round = 0; round < 8; round++) {
      rows.resize(1, 128);
      rows.resize(64, 128);
    }
    expect(memory.byteLength).toBeLessThan(2 * byteLength);
  });

  it('keeps and copies state of a fixed size too, whatever the capacity', () => {
    const memory = new CpuMemory(0);
    const [slots, staging] = [new CpuStateRows(memory, STATES), new CpuStateRows(memory, STATES)];
    slots.resize(2, 4);
    staging.resize(1, 4);
    fixedOf(memory, slots, 1).fill(7);
    slots.copyTo(staging, [[1, 0]]);
    slots.resize(3, 1);
    expect([fixedOf(memory, slots, 1)[5], fixedOf(memory, staging, 0)[5]]).toEqual([7, 7]);
  });

  it('clears state of a fixed size alone', () => {
    const memory = new CpuMemory(0);
    const rows = new CpuStateRows(memory, STATES);
    rows.resize(2, 4);
    for (const row of [0, 1]) fixedOf(memory, rows, row).fill(7);
    fill(memory, rows, 0, 4);
    rows.clear([0]);
    expect([0, 1].map((row) => [...new Set(fixedOf(memory, rows, row))])).toEqual([[0], [7]]);
    expect(wrongIn(memory, rows, 0, 0, 4)).toBe(0);
  });
});
