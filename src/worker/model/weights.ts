import { ModelFileCorruptError } from './errors.ts';
import type { WeightInitializers } from './gpt2-graph.ts';
import type { OnnxInitializer } from './onnx-proto.ts';
import type { SafetensorsDtype, SafetensorsIndex, TensorView } from './safetensors.ts';

export type Precision = 'float16' | 'float32';

export interface ModelWeights {
  /** Name under which the graph's initializers refer to `data`. */
  readonly location: string;
  readonly data: Uint8Array;
  readonly initializers: WeightInitializers;
  readonly numParameters: number;
}

const LOCATION = 'weights';
const DTYPE_OF: Readonly<Record<Precision, SafetensorsDtype>> = { float16: 'F16', float32: 'F32' };

/**
 * Places a checkpoint's tensors for the graph. Where the file already holds them in `precision` it is used as it is,
 * at its own offsets; otherwise they are converted to float32 into one new buffer.
 *
 * @param shapes The tensors that the graph reads; others in the file are left out.
 * @throws ModelFileCorruptError where a tensor is missing or has another shape.
 */
export function placeWeights(
  file: Uint8Array,
  index: SafetensorsIndex,
  shapes: ReadonlyMap<string, readonly number[]>,
  precision: Precision,
): ModelWeights {
  const tensors = [...shapes].map(([name, shape]) => ({ name, view: findTensor(index, name, shape) }));
  const numParameters = tensors.reduce((sum, { view }) => sum + countElements(view), 0);
  const isInPlace = tensors.every(({ view }) => view.dtype === DTYPE_OF[precision]);
  const { data, offsets } = isInPlace
    ? { data: file, offsets: tensors.map(({ view }) => view.begin) }
    : convertToFloat32(
        file,
        tensors.map(({ view }) => view),
      );
  const initializers = new Map<string, OnnxInitializer>();
  for (const [i, { name, view }] of tensors.entries()) {
    const length = countElements(view) * (precision === 'float16' ? 2 : 4);
    const offset = offsets[i] ?? 0;
    initializers.set(name, {
      name,
      type: precision,
      dims: view.shape,
      data: { location: LOCATION, offset, length },
    });
  }
  return { location: LOCATION, data, initializers, numParameters };
}

/** Whether every tensor that the graph reads is stored as F16, so that it can run as fp16 without conversion. */
export function isStoredAsFloat16(index: SafetensorsIndex, names: Iterable<string>): boolean {
  return [...names].every((name) => index.get(name)?.dtype === 'F16');
}

function findTensor(index: SafetensorsIndex, name: string, shape: readonly number[]): TensorView {
  const view = index.get(name);
  if (!view) throw ModelFileCorruptError.of('model.safetensors', `tensor ${name} is missing`);
  if (view.shape.join() !== shape.join()) {
    throw ModelFileCorruptError.of(
      'model.safetensors',
      `tensor ${name} has shape [${view.shape.join(', ')}], but config.json asks for [${shape.join(', ')}]`,
    );
  }
  return view;
}

function countElements(view: TensorView): number {
  return view.shape.reduce((product, size) => product * size, 1);
}

function convertToFloat32(
  file: Uint8Array,
  views: readonly TensorView[],
): { data: Uint8Array; offsets: number[] } {
  const numElements = views.reduce((sum, view) => sum + countElements(view), 0);
  const target = new Float32Array(numElements);
  const offsets: number[] = [];
  let position = 0;
  for (const view of views) {
    offsets.push(position * Float32Array.BYTES_PER_ELEMENT);
    const count = countElements(view);
    widen(file.slice(view.begin, view.end), view.dtype, target.subarray(position, position + count));
    position += count;
  }
  return { data: new Uint8Array(target.buffer), offsets };
}

/** `bytes` starts a buffer of its own, so that it is aligned for any element type. */
function widen(bytes: Uint8Array<ArrayBuffer>, dtype: SafetensorsDtype, target: Float32Array): void {
  if (dtype === 'F32') {
    target.set(new Float32Array(bytes.buffer));
    return;
  }
  const bits = new Uint16Array(bytes.buffer);
  const targetBits = new Uint32Array(target.buffer, target.byteOffset, target.length);
  for (const [i, half] of bits.entries()) targetBits[i] = dtype === 'BF16' ? half << 16 : float32BitsOf(half);
}

const F16_SUBNORMAL_UNIT = 2 ** -24;
const scratch = new Float32Array(1);
const scratchBits = new Uint32Array(scratch.buffer);

/** IEEE 754 binary16 bits to binary32 bits; exact, subnormals, infinities and NaN included. */
function float32BitsOf(half: number): number {
  const sign = (half & 0x8000) << 16;
  const exponent = (half >> 10) & 0x1f;
  const fraction = half & 0x3ff;
  if (exponent === 0x1f) return sign | 0x7f800000 | (fraction << 13);
  if (exponent !== 0) return sign | ((exponent + 112) << 23) | (fraction << 13);
  scratch[0] = fraction * F16_SUBNORMAL_UNIT;
  return sign | (scratchBits[0] ?? 0);
}
