import { BLOCK_SIZE, inputsOf, type PackedTensor } from '../../models/checkpoint/packed-weights.ts';
import { rotationSizeOf } from '../../models/checkpoint/rotation.ts';
import { packedRowsOf, type PackedRows, type WeightSource } from '../../models/checkpoint/weight-source.ts';
import { countElements } from '../../models/program/model-config.ts';
import type { CpuMemory } from '../memory/cpu-memory.ts';
import type { WeightKernels } from '../kernels/weight-kernels.ts';

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

/** Weights of 8 bits that are converted together: they and their scales stay in the CPU's cache. */
const WEIGHTS_AT_ONCE = 2 ** 17;

/** Copies weights into the memory of the kernels as they come. */
export async function placeWeights(
  weights: WeightSource,
  memory: CpuMemory,
  kernels: WeightKernels,
): Promise<PlacedWeights> {
  const placer = new WeightPlacer(memory, kernels);
  await weights.stream((rows) => placer.take(rows));
  return placer.placed;
}

class WeightPlacer {
  readonly placed = new Map<string, PlacedTensor>();
  readonly #memory: CpuMemory;
  readonly #kernels: WeightKernels;

  constructor(memory: CpuMemory, kernels: WeightKernels) {
    this.#memory = memory;
    this.#kernels = kernels;
  }

  take(rows: PackedRows): void {
    const { tensor } = rows;
    const place = this.placed.get(tensor.name) ?? this.#allocate(tensor);
    this.placed.set(tensor.name, place);
    if (place.encoding === 'float32') this.#putFloats(rows, place);
    else if (place.encoding === 'int4') this.#putInt4(rows, place);
    else this.#putInt8(rows, place);
  }

  #allocate(tensor: PackedTensor): PlacedTensor {
    const allocate = (byteLength: number): number => this.#memory.allocate(byteLength).address;
    const { encoding, shape, length, scales, zeroPoints } = tensor;
    if (!scales || !zeroPoints) return { encoding: 'float32', address: allocate(4 * countElements(shape)) };
    const address = allocate(length);
    if (encoding === 'q4')
      return {
        encoding: 'int4',
        address,
        scales: allocate(scales.length),
        zeroPoints: allocate(zeroPoints.length),
      };
    const numRows = packedRowsOf(tensor);
    const rotation = rotationSizeOf(inputsOf(tensor));
    return {
      encoding: 'int8',
      address,
      scales: allocate(4 * numRows),
      sums: allocate(4 * numRows),
      rotation,
    };
  }

  #putFloats({ tensor: { role, shape }, firstRow, numRows, parts }: PackedRows, place: PlacedFloats): void {
    const [values] = parts;
    if (!values) return;
    if (role === 'conv1d')
      placeTransposed(
        values,
        { shape, firstInput: firstRow, numInputs: numRows },
        this.#memory.floatsAt(place.address, countElements(shape)),
      );
    else this.#memory.bytes.set(values, place.address + firstRow * (values.byteLength / numRows));
  }

  #putInt4({ firstRow, numRows, parts }: PackedRows, place: PlacedInt4): void {
    for (const [i, address] of [place.address, place.scales, place.zeroPoints].entries()) {
      const part = parts[i];
      if (part) this.#memory.bytes.set(part, address + firstRow * (part.byteLength / numRows));
    }
  }

  /** Blocks of 8 bits become int8 with a scale for each output. Their inputs are turned, so that single large ones cost less. */
  #putInt8({ tensor, firstRow, numRows, parts }: PackedRows, place: PlacedInt8): void {
    const inputs = inputsOf(tensor);
    const numBlocks = inputs / BLOCK_SIZE;
    const rowsAtOnce = Math.max(1, Math.floor(WEIGHTS_AT_ONCE / inputs));
    const [blockScales, zeroPoints, turned] = [
      4 * rowsAtOnce * numBlocks,
      rowsAtOnce * numBlocks,
      4 * inputs,
    ].map((byteLength) => this.#memory.allocate(byteLength));
    if (!blockScales || !zeroPoints || !turned) return;
    for (let row = 0; row < numRows; row += rowsAtOnce) {
      const count = Math.min(rowsAtOnce, numRows - row);
      const at = firstRow + row;
      const targets = [place.address + at * inputs, blockScales.address, zeroPoints.address];
      for (const [i, target] of targets.entries()) {
        const part = parts[i];
        const rowBytes = (part?.byteLength ?? 0) / numRows;
        if (part) this.#memory.bytes.set(part.subarray(row * rowBytes, (row + count) * rowBytes), target);
      }
      this.#kernels.requantizeRows(
        place.address + at * inputs,
        blockScales.address,
        zeroPoints.address,
        place.scales + 4 * at,
        place.sums + 4 * at,
        count,
        inputs,
        place.rotation,
        turned.address,
      );
    }
    for (const block of [blockScales, zeroPoints, turned]) this.#memory.free(block);
  }
}

/** Columns that are moved together, so that a line of the CPU's cache is read once. */
const TILE = 16;

/** Some inputs of a matrix. */
interface Inputs {
  /** [in, out] */
  readonly shape: readonly number[];
  readonly firstInput: number;
  readonly numInputs: number;
}

/** Writes rows of a matrix [in, out] of a `conv1d` as columns of [out, in]. */
function placeTransposed(
  bytes: Uint8Array<ArrayBuffer>,
  { shape: [allInputs = 0, numOutputs = 0], firstInput, numInputs }: Inputs,
  target: Float32Array,
): void {
  const values = new Float32Array(bytes.buffer, bytes.byteOffset, numInputs * numOutputs);
  for (let first = 0; first < numOutputs; first += TILE) {
    const end = Math.min(numOutputs, first + TILE);
    for (let input = 0; input < numInputs; input++)
      for (let output = first; output < end; output++)
        target[output * allInputs + firstInput + input] = values[input * numOutputs + output] ?? 0;
  }
}
