import type { Gpt2Config } from '../gpt2/config.ts';
import { ModelTooLargeError, UnsupportedDtypeError } from '../../protocol/errors/model.ts';
import type { Dtype, DtypeChoice } from '../../protocol/models.ts';
import { gpt2Tensors } from '../gpt2/tensors.ts';
import type { Checkpoint } from './checkpoint.ts';
import { BYTES_PER_VALUE, countElements, layOut, type PackedLayout } from './packed-weights.ts';

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
  const hasFloat16 = device.kind === 'webgpu' && device.hasShaderF16;
  if (choice === 'fp16' && !hasFloat16) throw UnsupportedDtypeError.of('fp16', 'shader-f16');
  const candidates: readonly Dtype[] =
    choice === 'auto' ? [hasFloat16 ? 'fp16' : 'fp32', 'q8', 'q4'] : [choice];
  const obstacles: string[] = [];
  for (const dtype of candidates) {
    const precision = hasFloat16 && dtype !== 'fp32' ? 'float16' : 'float32';
    const layout = layOut(gpt2Tensors(checkpoint.config), dtype, precision);
    const bytes = measure(checkpoint, layout, device);
    const obstacle = findObstacle(checkpoint.config, layout, bytes, device);
    if (obstacle === undefined) return { layout, bytes, reason: obstacles.join('; ') };
    obstacles.push(`as ${dtype} ${obstacle}`);
  }
  throw ModelTooLargeError.of(obstacles.join('; '), checkpoint.numParameters);
}

function measure(checkpoint: Checkpoint, layout: PackedLayout, { kind }: DeviceLimits): PlanBytes {
  const { weightFiles, config } = checkpoint;
  const ranges = weightFiles.flatMap(({ neededRanges }) => neededRanges);
  const whileConverting = layout.tensors.map(({ name, role, length, scales }) => {
    const { begin = 0, end = 0 } = checkpoint.tensors.get(name) ?? {};
    const packed = length + (scales?.length ?? 0);
    if (role === 'embedding') return 4 * SLICE_BYTES;
    // Read, widened and packed.
    return 3 * (end - begin) + packed;
  });
  const whileLoading = layout.tensors.map(({ length }) => length);
  return {
    download: ranges.reduce((sum, { begin, end }) => sum + end - begin, 0),
    stored: layout.size,
    device:
      (kind === 'wasm' ? WASM_GROWTH * layout.size + WASM_OVERHEAD : layout.size) +
      2 * config.numLayers * 2 * kvRowBytes(config, layout),
    peakHeap: Math.max(...whileConverting, ...whileLoading),
  };
}

/** What stands against a layout, or `undefined`. */
function findObstacle(
  config: Gpt2Config,
  layout: PackedLayout,
  bytes: PlanBytes,
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
  // Embeddings are bound in blocks of rows.
  const lengths = layout.tensors.filter(({ role }) => role !== 'embedding').map(({ length }) => length);
  const largest = Math.max(kvRowBytes(config, layout), ...lengths);
  return largest > limit ? exceeds('one buffer', largest, 'that this GPU binds', limit) : undefined;
}

/** K or V of one sequence of full length in one layer. */
function kvRowBytes({ contextLength, embeddingSize }: Gpt2Config, { precision }: PackedLayout): number {
  return countElements([contextLength, embeddingSize]) * BYTES_PER_VALUE[precision];
}

function exceeds(what: string, bytes: number, ofWhat: string, limit: number): string {
  return `it takes ${megabytes(bytes)} of ${what}, more than the ${megabytes(limit)} ${ofWhat}`;
}

function megabytes(bytes: number): string {
  return `${Math.ceil(bytes / 1e6)} MB`;
}
