import { yieldToHost } from '../../../platform/yield-to-host.ts';
import {
  BLOCK_SIZE,
  inputsOf,
  type PackedLayout,
  type PackedSection,
  type PackedTensor,
} from '../../models/checkpoint/packed-weights.ts';
import { countElements } from '../../models/model-config.ts';
import type { Block, CpuMemory } from '../cpu-memory.ts';
import type { WeightKernels } from '../kernels/weight-kernels.ts';
import { rotationSizeOf } from '../../models/checkpoint/rotation.ts';
import { placeTransposed } from './transpose.ts';

/** A tensor in the memory of the kernels. A matrix is [out, in]. Addresses in bytes. */
export type PlacedTensor = PlacedFloats | PlacedInt8 | PlacedInt4;

interface PlacedFloats {
  readonly encoding: 'float32';
  readonly address: number;
}

/** As `multiplyInt8` takes it. */
export interface PlacedInt8 {
  readonly encoding: 'int8';
  readonly address: number;
  readonly scales: number;
  readonly sums: number;
  /** Values of a row that are turned together: see `rotate`. */
  readonly rotation: number;
}

/** As `multiplyInt4` takes it. */
export interface PlacedInt4 {
  readonly encoding: 'int4';
  readonly address: number;
  readonly scales: number;
  readonly zeroPoints: number;
}

/** By the names of the tensors. */
export type PlacedWeights = ReadonlyMap<string, PlacedTensor>;

interface PackedWeights {
  readonly packed: PackedLayout;
  /** The packed file, or `lazyBytes` of it. */
  readonly weights: Uint8Array;
}

/** Rows of a matrix that are converted before the worker sees messages. */
const ROWS_AT_ONCE = 256;

/** Copies weights into the memory of the kernels, a tensor at a time. In between the worker serves others. */
export async function placeWeights(
  { packed, weights }: PackedWeights,
  memory: CpuMemory,
  kernels: WeightKernels,
): Promise<PlacedWeights> {
  const read = ({ offset, length }: PackedSection): Uint8Array => weights.subarray(offset, offset + length);
  const placed = new Map<string, PlacedTensor>();
  for (const tensor of packed.tensors) {
    const place =
      tensor.encoding === 'q8'
        ? await placeInt8(tensor, read, memory, kernels)
        : tensor.encoding === 'q4'
          ? placeInt4(tensor, read, memory)
          : placeFloats(tensor, read, memory);
    placed.set(tensor.name, place);
    await yieldToHost();
  }
  return placed;
}

type ReadSection = (section: PackedSection) => Uint8Array;

function placeFloats(tensor: PackedTensor, read: ReadSection, memory: CpuMemory): PlacedFloats {
  const { role, shape } = tensor;
  const { address } = memory.allocate(4 * countElements(shape));
  const values = read(tensor);
  if (role === 'conv1d') placeTransposed(values, shape, memory.floatsAt(address, countElements(shape)));
  else memory.bytes.set(values, address);
  return { encoding: 'float32', address };
}

/** Blocks of 8 bits become int8 with a scale for each output. Their inputs are turned, so that single large ones cost less. */
async function placeInt8(
  tensor: PackedTensor,
  read: ReadSection,
  memory: CpuMemory,
  kernels: WeightKernels,
): Promise<PlacedInt8> {
  const stored = placeBlocks(tensor, read, memory);
  const length = inputsOf(tensor);
  const numRows = countElements(tensor.shape) / length;
  const numBlocks = length / BLOCK_SIZE;
  const rotation = rotationSizeOf(length);
  const [scales, sums, scratch] = [numRows, numRows, length].map((count) => memory.allocate(4 * count));
  if (!scales || !sums || !scratch) throw new Error('Expected three blocks');
  for (let row = 0; row < numRows; row += ROWS_AT_ONCE) {
    kernels.requantizeRows(
      stored.codes.address + row * length,
      stored.scales.address + 4 * row * numBlocks,
      stored.zeroPoints.address + row * numBlocks,
      scales.address + 4 * row,
      sums.address + 4 * row,
      Math.min(ROWS_AT_ONCE, numRows - row),
      length,
      rotation,
      scratch.address,
    );
    await yieldToHost();
  }
  for (const block of [stored.scales, stored.zeroPoints, scratch]) memory.free(block);
  return {
    encoding: 'int8',
    address: stored.codes.address,
    scales: scales.address,
    sums: sums.address,
    rotation,
  };
}

/** As they are stored. */
function placeInt4(tensor: PackedTensor, read: ReadSection, memory: CpuMemory): PlacedInt4 {
  const { codes, scales, zeroPoints } = placeBlocks(tensor, read, memory);
  return { encoding: 'int4', address: codes.address, scales: scales.address, zeroPoints: zeroPoints.address };
}

interface StoredBlocks {
  readonly codes: Block;
  readonly scales: Block;
  readonly zeroPoints: Block;
}

function placeBlocks(tensor: PackedTensor, read: ReadSection, memory: CpuMemory): StoredBlocks {
  const { scales, zeroPoints } = tensor;
  if (!scales || !zeroPoints) throw new Error(`${tensor.name} is not stored in blocks`);
  const place = (section: PackedSection): Block => {
    const block = memory.allocate(section.length);
    memory.bytes.set(read(section), block.address);
    return block;
  };
  return { codes: place(tensor), scales: place(scales), zeroPoints: place(zeroPoints) };
}
