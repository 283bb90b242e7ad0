import { ModelTooLargeError, UnsupportedDtypeError } from '../../protocol/errors/model.ts';
import type { Dtype, DtypeChoice } from '../../protocol/models.ts';
import { countParameters, isSplitByRows, kvBytesPerToken } from '../model-config.ts';
import type { Checkpoint } from './checkpoint.ts';
import { BYTES_PER_VALUE, layOut, type PackedLayout } from './packed-weights.ts';

/** Limits of the device, in bytes. */
export type DeviceLimits =
  | {
      readonly kind: 'webgpu';
      readonly hasShaderF16: boolean;
      readonly maxBufferSize: number;
      readonly maxStorageBufferBindingSize: number;
      /** Memory of the machine, where the browser tells (`navigator.deviceMemory`). */
      readonly memoryBytes: number | undefined;
    }
  | { readonly kind: 'wasm'; readonly memoryBytes: number | undefined };

/** How a checkpoint will run and what that costs. Known once its headers are read. */
export interface ModelPlan {
  readonly layout: PackedLayout;
  /** Why `auto` did not take its first choice; empty where it did, or where the caller chose. */
  readonly reason: string;
  readonly bytes: PlanBytes;
}

interface PlanBytes {
  readonly download: number;
  /** Size of the packed file. */
  readonly stored: number;
  /** Weights as the runtime keeps them, with the K/V cache of one full sequence and its staging row. */
  readonly device: number;
  /** The most that is in JavaScript's memory at once, in conversion or loading. */
  readonly peakHeap: number;
}

/** onnxruntime-web addresses external data with 32 bits, and its WASM heap ends at the same size. */
const LARGEST_FILE = 2 ** 32;

/** The CPU kernels keep a reordered copy of matrices: weights of 498 MB make a heap of 853 MB (measured). */
const WASM_GROWTH = 1.75;

/** The heap beside weights and K/V: the runtime itself, activations and outputs. */
const WASM_OVERHEAD = 2 ** 28;

/** Share of the machine's memory that one page may take. */
const LARGEST_SHARE = 0.75;

/** Size of the slices of whole rows in which embeddings are read. */
export const SLICE_BYTES = 2 ** 23;

/**
 * Chooses the dtype. `auto` takes the first that fits of fp16 (fp32 where the GPU has no fp16), q8 and q4.
 *
 * @throws ModelTooLargeError with the numbers, where no dtype that was asked for fits.
 * @throws UnsupportedDtypeError where fp16 is asked for and the device does not offer it.
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
    return exceeds('its weights take', layout.size, LARGEST_FILE, 'that onnxruntime-web can read');
  if (device.kind === 'wasm' && bytes.device > LARGEST_FILE)
    return exceeds('it needs memory of', bytes.device, LARGEST_FILE, 'of a WASM heap');
  const share = LARGEST_SHARE * (device.memoryBytes ?? Infinity);
  if (bytes.device > share)
    return exceeds('it needs memory of', bytes.device, share, 'that a page may take on this machine');
  if (device.kind === 'wasm') return undefined;
  const limit = Math.min(device.maxBufferSize, device.maxStorageBufferBindingSize);
  const lengths = layout.tensors.filter((tensor) => !isSplitByRows(tensor)).map(({ length }) => length);
  const largest = Math.max(kvBufferBytes, ...lengths);
  if (largest > limit) return exceeds('its largest buffer takes', largest, limit, 'that this GPU can bind');
  return undefined;
}

function exceeds(claim: string, bytes: number, limit: number, limitOf: string): string {
  return `${claim} ${megabytes(bytes)}, more than the ${megabytes(limit)} ${limitOf}`;
}

function megabytes(bytes: number): string {
  return `${Math.ceil(bytes / 1e6)} MB`;
}
