import { expect, it } from 'vitest';
import { numBuffersOf, rowBytesOf, type LayerState } from '../../models/program/layer-state.ts';
import { FakeGpu } from '../../testing/fake-gpu.ts';
import { GpuStateRows } from './gpu-state-rows.ts';

/** Two heads of 4 values in fp16, then 6 values, then a layer that keeps nothing. */
const STATES: readonly LayerState[] = [
  { kind: 'tokens', numKvHeads: 2, headSize: 4 },
  { kind: 'row', shape: [2, 3] },
  { kind: 'shared', layer: 0 },
];

function createRows() {
  const gpu = new FakeGpu();
  const rows = new GpuStateRows(gpu.device, STATES, 2);
  rows.resize(2, 16);
  /** The commands since the last call. */
  const commands = (): string[] => gpu.submitted.splice(0);
  return { gpu, rows, commands };
}

it('has keys and values by heads and capacity, and other state whatever the capacity', () => {
  const { gpu, rows } = createRows();
  expect(gpu.buffers.map(({ size }) => size)).toEqual([2 * 2 * 16 * 8, 2 * 2 * 16 * 8, 2 * 12]);
  expect([0, 1, 2].map((layer) => rows.buffersOf(layer).length)).toEqual([2, 1, 0]);
});

it('moves heads when the capacity changes, and leaves state of a fixed size where it is', () => {
  const { gpu, rows, commands } = createRows();
  const fixed = rows.buffersOf(1);
  expect(rows.resize(2, 32)).toBe(true);
  expect(rows.buffersOf(1)).toEqual(fixed);
  expect(commands().slice(0, 4)).toEqual(
    [0, 1, 2, 3].map((head) => `copy buffer 0 ${head * 128} buffer 3 ${head * 256} 128`),
  );
  expect(gpu.buffers.filter(({ isDestroyed }) => isDestroyed).map(({ name }) => name)).toEqual([
    'buffer 0',
    'buffer 1',
  ]);
});

it('keeps all state of the rows that stay when their number changes', () => {
  const { rows, commands } = createRows();
  rows.resize(5, 16);
  expect(commands()).toEqual([
    'copy buffer 0 0 buffer 3 0 512',
    'copy buffer 1 0 buffer 4 0 512',
    'copy buffer 2 0 buffer 5 0 24',
  ]);
  expect(rows.resize(5, 16)).toBe(false);
});

it('copies all state of a row to other rows, and within its buffers through another one', () => {
  const { gpu, rows, commands } = createRows();
  const staging = new GpuStateRows(gpu.device, STATES, 2);
  staging.resize(1, 16);
  rows.copyTo(staging, [[1, 0]]);
  expect(commands()).toEqual([
    'copy buffer 0 256 buffer 3 0 256',
    'copy buffer 1 256 buffer 4 0 256',
    'copy buffer 2 12 buffer 5 0 12',
  ]);
  rows.copyTo(rows, [[1, 0]]);
  expect(commands().filter((_, index) => index > 3)).toEqual([
    'copy buffer 2 12 buffer 6 0 12',
    'copy buffer 6 0 buffer 2 0 12',
  ]);
});

it('clears state of a fixed size alone: keys and values that are not written are not read', () => {
  const { rows, commands } = createRows();
  rows.clear([1]);
  expect(commands()).toEqual(['clear buffer 2 12 12']);
  rows.clear([]);
  expect(commands()).toEqual([]);
});

it('has sums in float32 where other state is in fp16, as they are counted', () => {
  const gpu = new FakeGpu();
  const states: readonly LayerState[] = [
    { kind: 'row', shape: [2, 3] },
    { kind: 'row', shape: [4, 8, 8], isSum: true },
  ];
  new GpuStateRows(gpu.device, states, 2).resize(3, 16);
  expect(gpu.buffers.map(({ size }) => size)).toEqual([3 * 2 * 6, 3 * 4 * 256]);
  expect(rowBytesOf(states, 2).bytesPerRow).toBe(2 * 6 + 4 * 256);
});

it('has fixed state alone where rows have no capacity, as it is counted, and copies it to rows that have one and back', () => {
  const { gpu, rows, commands } = createRows();
  const snapshots = new GpuStateRows(gpu.device, STATES, 2);
  snapshots.resize(0, 0);
  expect(gpu.buffers).toHaveLength(3);
  snapshots.resize(4, 0);
  expect(gpu.buffers.slice(3).map(({ size }) => size)).toEqual([4 * rowBytesOf(STATES, 2).bytesPerRow]);
  rows.copyTo(snapshots, [[1, 3]]);
  snapshots.copyTo(rows, [[3, 0]]);
  expect(commands()).toEqual(['copy buffer 2 12 buffer 3 36 12', 'copy buffer 3 36 buffer 2 0 12']);
});

it.each([
  ['keys, the larger ones', STATES, 16],
  ['fixed state, the larger one', [...STATES, { kind: 'row', shape: [4, 8, 8], isSum: true }], 16],
  ['fixed state alone', [{ kind: 'row', shape: [2, 3] }], 16],
  ['keys and values alone', STATES.slice(0, 1), 1],
] as const)('has in no buffer more than the share of its rows that is counted: %s', (_, states, capacity) => {
  const gpu = new FakeGpu();
  new GpuStateRows(gpu.device, states, 2).resize(5, capacity);
  const bytes = rowBytesOf(states, 2);
  const share = (5 * (bytes.bytesPerRow + capacity * bytes.bytesPerToken)) / numBuffersOf(bytes);
  expect(Math.max(...gpu.buffers.map(({ size }) => size))).toBeLessThanOrEqual(share);
});
