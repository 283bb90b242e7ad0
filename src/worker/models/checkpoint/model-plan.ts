import { ModelTooLargeError, UnsupportedDtypeError } from '../../protocol/errors/model.ts';
import { countParameters, isSplitByRows, kvBytesPerToken } from '../model-config.ts';
import type { Checkpoint } from './checkpoint.ts';
import { BYTES_PER_VALUE, layOut, type Dtype, type PackedLayout } from './packed-weights.ts';

/** What the caller asks for. `auto`: the best that the device has and that fits. */
export type DtypeChoice = 'auto' | Dtype;

/** What a plan has to know of the device; sizes in bytes. */
export type DeviceLimits =
  | {
      readonly kind: 'webgpu';
      readonly hasShaderF16: boolean;
      readonly maxBufferSize: number;
      readonly maxStorageBufferBindingSize: number;
      /** What the machine has, as far as the browser tells (`navigator.deviceMemory`). */
      readonly memoryBytes: number | undefined;
    }
  | { readonly kind: 'wasm'; readonly memoryBytes: number | undefined };

/** How a checkpoint is to run and what that costs, known before anything but its headers is read. */
export interface ModelPlan {
  readonly layout: PackedLayout;
  /** Why `auto` did not choose what is first in its list; empty where it did, or where the caller chose. */
  readonly reason: string;
  readonly bytes: PlanBytes;
}

interface PlanBytes {
  /** To be fetched. */
  readonly download: number;
  /** The packed file. */
  readonly stored: number;
  /** Weights as the runtime keeps them, and the K/V cache of one full sequence with its staging row. */
  readonly device: number;
  /** In JavaScript at once, while it is converted or loaded. */
  readonly peakHeap: number;
}

/** onnxruntime-web addresses external data with 32 bits, and its WASM heap ends at the same size. */
const LARGEST_FILE = 2 ** 32;

/** Its kernels keep matrices once more, in an order of their own: gpt2's 498 MB make a heap of 853 MB (measured). */
const WASM_GROWTH = 1.75;

/** What its heap holds beside weights and K/V: the runtime itself, activations, and K/V on their way out. */
const WASM_OVERHEAD = 2 ** 28;

/** Of the machine's memory, for one page. */
const LARGEST_SHARE = 0.75;

/** Of a source tensor, read at once; an embedding is read in slices of whole rows. */
export const SLICE_BYTES = 2 ** 23;

/**
 * Chooses what runs. `auto` takes the first that fits of fp16 (where the GPU computes in it; else fp32), q8 and q4.
 *
 * @throws ModelTooLargeError with the numbers, where nothing that was asked for fits.
 * @throws UnsupportedDtypeError where fp16 is asked for and the device does not compute in it.
 */
export function planModel(checkpoint: Checkpoint, choice: DtypeChoice, device: DeviceLimits): ModelPlan {
  const { config, tensors } = checkpoint.model;
  const hasFloat16 = device.kind === 'webgpu' && device.hasShaderF16;
  if (choice === 'fp16' && !hasFloat16) throw UnsupportedDtypeError.of('fp16', 'shader-f16');
  const candidates: readonly Dtype[] =
    choice === 'auto' ? [hasFloat16 ? 'fp16' : 'fp32', 'q8', 'q4'] : [choice];
  const obstacles: string[] = [];
  for (const dtype of candidates) {
    const precision = hasFloat16 && dtype !== 'fp32' ? 'float16' : 'float32';
    const layout = layOut(tensors, dtype, precision);
    const kvBytes = config.contextLength * kvBytesPerToken(config, BYTES_PER_VALUE[precision]);
    const bytes = measure(checkpoint, layout, kvBytes, device);
    const obstacle = findObstacle(layout, bytes, kvBytes / (2 * config.numLayers), device);
    if (obstacle === undefined) return { layout, bytes, reason: obstacles.join('; ') };
    obstacles.push(`as ${dtype} ${obstacle}`);
  }
  throw ModelTooLargeError.of(obstacles.join('; '), countParameters(tensors));
}

/** @param kvBytes K/V of one sequence of full length. */
function measure(
  checkpoint: Checkpoint,
  layout: PackedLayout,
  kvBytes: number,
  { kind }: DeviceLimits,
): PlanBytes {
  const ranges = checkpoint.weightFiles.flatMap(({ neededRanges }) => neededRanges);
  const whileConverting = layout.tensors.map(({ name, role, length, scales }) => {
    if (isSplitByRows({ role })) return 4 * SLICE_BYTES;
    const { begin = 0, end = 0 } = checkpoint.tensors.get(name) ?? {};
    // Read, widened and packed.
    return 3 * (end - begin) + length + (scales?.length ?? 0);
  });
  const whileLoading = layout.tensors.map(({ length }) => length);
  const weights = kind === 'wasm' ? WASM_GROWTH * layout.size + WASM_OVERHEAD : layout.size;
  return {
    download: ranges.reduce((sum, { begin, end }) => sum + end - begin, 0),
    stored: layout.size,
    device: weights + 2 * kvBytes,
    peakHeap: Math.max(...whileConverting, ...whileLoading),
  };
}

/**
 * @param kvBufferBytes K or V of one sequence of full length in one layer.
 * @returns Why the layout does not fit, or `undefined`.
 */
function findObstacle(
  layout: PackedLayout,
  bytes: PlanBytes,
  kvBufferBytes: number,
  device: DeviceLimits,
): string | undefined {
  if (layout.size > LARGEST_FILE)
    return exceeds('weights', layout.size, 'that onnxruntime-web reads', LARGEST_FILE);
  if (device.kind === 'wasm' && bytes.device > LARGEST_FILE) {
    return exceeds('memory', bytes.device, 'of a WASM heap', LARGEST_FILE);
  }
  const share = LARGEST_SHARE * (device.memoryBytes ?? Infinity);
  if (bytes.device > share)
    return exceeds('memory', bytes.device, 'of this machine that a page may take', share);
  if (device.kind === 'wasm') return undefined;
  const limit = Math.min(device.maxBufferSize, device.maxStorageBufferBindingSize);
  const lengths = layout.tensors.filter((tensor) => !isSplitByRows(tensor)).map(({ length }) => length);
  const largest = Math.max(kvBufferBytes, ...lengths);
  return largest > limit ? exceeds('one buffer', largest, 'that this GPU binds', limit) : undefined;
}

function exceeds(what: string, bytes: number, ofWhat: string, limit: number): string {
  return `it takes ${megabytes(bytes)} of ${what}, more than the ${megabytes(limit)} ${ofWhat}`;
}

function megabytes(bytes: number): string {
  return `${Math.ceil(bytes / 1e6)} MB`;
}
