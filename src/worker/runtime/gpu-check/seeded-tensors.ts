import { uniform } from '../../../batching/sampling/random.ts';
import { memoryFile } from '../../models/formats/checkpoint-files.ts';
import type { CheckpointTensor } from '../../models/checkpoint/checkpoint.ts';
import { BLOCK_SIZE } from '../../models/checkpoint/packed-weights.ts';
import type { Model } from '../../models/family.ts';
import { countElements, listSources, type ModelTensor } from '../../models/program/model-config.ts';

/** The largest integer that a scale is multiplied by. As with 4 bits, the smallest is -8. */
const LARGEST_INTEGER = 7;

const INTEGERS_RMS = 4.5;

/** RMS of the logits where the final norm gives 1: tokens differ, and none is certain. */
const LOGITS_RMS = 1.5;

const VECTOR_SCALE = 1 / 64;

/**
 * The weights of a checkpoint that the GPU is checked with, the same everywhere. They are small integers times a power of two, and
 * each block of 32 holds a -8: fp16, q8 and q4 hold them exactly, so that one reference is right for all.
 */
export function seededTensors(
  { program }: Pick<Model, 'program'>,
  seed: number,
): ReadonlyMap<string, readonly CheckpointTensor[]> {
  return new Map(
    program.weights.map((tensor, index) => [tensor.name, sourcesOf(tensor, valuesOf(tensor, seed + index))]),
  );
}

function valuesOf(tensor: ModelTensor, seed: number): Float32Array {
  const { shape, role, name } = tensor;
  const integer = (i: number): number =>
    Math.floor(uniform(seed, i) * (2 * LARGEST_INTEGER + 1)) - LARGEST_INTEGER;
  if (shape.length === 1) {
    const center = name.endsWith('.weight') ? 1 : 0;
    // Gains of both signs: with gains around 1, a token would be its own likeliest successor.
    return Float32Array.from(
      { length: countElements(shape) },
      (_, i) => (i % 2 === 0 ? center : -center) + integer(i) * VECTOR_SCALE,
    );
  }
  const [numRows = 1] = shape;
  const numColumns = countElements(shape) / numRows;
  const scale = scaleOf(role, role === 'conv1d' ? numRows : numColumns);
  return Float32Array.from({ length: numRows * numColumns }, (_, i) => {
    const [row, column] = [Math.floor(i / numColumns), i % numColumns];
    const isExtreme = row % BLOCK_SIZE === column % BLOCK_SIZE;
    return scale * (isExtreme ? -LARGEST_INTEGER - 1 : integer(i));
  });
}

/** A power of two. */
function scaleOf(role: ModelTensor['role'], numInputs: number): number {
  const gain = role === 'embedding' ? LOGITS_RMS : 1;
  return 2 ** Math.round(Math.log2(gain / (INTEGERS_RMS * Math.sqrt(numInputs))));
}

function sourcesOf(tensor: ModelTensor, values: Float32Array): readonly CheckpointTensor[] {
  const file = memoryFile(tensor.name, new Uint8Array(values.buffer));
  let begin = 0;
  return listSources(tensor).map(({ name, shape }) => {
    const source = { name, shape, dtype: 'F32', file, begin, end: begin + 4 * countElements(shape) } as const;
    begin = source.end;
    return source;
  });
}
