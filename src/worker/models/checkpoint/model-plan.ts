import { ModelTooLargeError, UnsupportedDtypeError } from '../../protocol/errors/model.ts';
import type { Dtype, DtypeChoice } from '../../protocol/models.ts';
import { countParameters, isSplitByRows, kvBytesPerToken } from '../model-config.ts';
import { bytesIn } from './byte-ranges.ts';
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
  readonly downloadBytes: number;
  /** Weights as the runtime keeps them, with the K/V cache of one full sequence and its staging row. */
  readonly deviceBytes: number;
}

/** onnxruntime-web addresses external data with 32 bits, and its WASM heap ends at the same size. */
const LARGEST_FILE = 2 ** 32;

/** The CPU kernels keep a reordered copy of matrices: weights of 498 MB make a heap of 853 MB (measured). */
const WASM_GROWTH = 1.75;

/** The heap beside weights and K/V: the runtime itself, activations and outputs. */
const WASM_OVERHEAD = 2 ** 28;

/** Share of the machine's memory that one page may take. */
const LARGEST_SHARE = 0.75;

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
  const downloadBytes = bytesIn(checkpoint.weightFiles.flatMap(({ neededRanges }) => neededRanges));
  const obstacles: string[] = [];
  for (const dtype of candidates) {
    const precision = hasFloat16 && dtype !== 'fp32' ? 'float16' : 'float32';
    const layout = layOut(tensors, dtype, precision);
    const kvBytes = config.contextLength * kvBytesPerToken(config, BYTES_PER_VALUE[precision]);
    const weights = device.kind === 'wasm' ? WASM_GROWTH * layout.size + WASM_OVERHEAD : layout.size;
    const deviceBytes = weights + 2 * kvBytes;
    const obstacle = findObstacle(layout, deviceBytes, kvBytes / (2 * config.numLayers), device);
    if (obstacle === undefined) return { layout, reason: obstacles.join('; '), downloadBytes, deviceBytes };
    obstacles.push(`as ${dtype} ${obstacle}`);
  }
  throw ModelTooLargeError.of(obstacles.join('; '), countParameters(tensors));
}

/**
 * @param kvBufferBytes K or V of one sequence of full length in one layer.
 * @returns Why the layout does not fit, or `undefined`.
 */
function findObstacle(
  layout: PackedLayout,
  deviceBytes: number,
  kvBufferBytes: number,
  device: DeviceLimits,
): string | undefined {
  if (layout.size > LARGEST_FILE)
    return exceeds('its weights take', layout.size, LARGEST_FILE, 'that onnxruntime-web can read');
  if (device.kind === 'wasm' && deviceBytes > LARGEST_FILE)
    return exceeds('it needs memory of', deviceBytes, LARGEST_FILE, 'of a WASM heap');
  const share = LARGEST_SHARE * (device.memoryBytes ?? Infinity);
  if (deviceBytes > share)
    return exceeds('it needs memory of', deviceBytes, share, 'that a page may take on this machine');
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
