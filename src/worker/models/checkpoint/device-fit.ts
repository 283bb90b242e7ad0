import { DEFAULT_POLICY } from '../../../batching/generation/policy.ts';
import { MAX_TOKEN_IDS } from '../../../protocol/wire.ts';
import { countElements, isSplitByRows, kvBytesPerToken, type ModelConfig } from '../model-config.ts';
import { BYTES_PER_VALUE, inputsOf, sectionsOf, type PackedLayout } from './packed-weights.ts';

/** A model that serves on the device, and what it takes there. */
export interface ServingModel {
  readonly id: string;
  readonly isEncoder: boolean;
  readonly bytes: number;
}

/** Limits of what computes on a device, in bytes. */
export type RuntimeLimits =
  | {
      readonly kind: 'webgpu';
      readonly hasShaderF16: boolean;
      readonly maxBufferSize: number;
      readonly maxStorageBufferBindingSize: number;
    }
  | { readonly kind: 'wasm' };

/** Limits of a device beside what serves on it. */
export type DeviceLimits = RuntimeLimits & {
  /** None by default. */
  readonly serving?: readonly ServingModel[];
  /** Memory of the machine, where the browser reports it (`navigator.deviceMemory`). */
  readonly memoryBytes: number | undefined;
};

/** The memory that a packed model takes on a device. */
export interface DeviceFit {
  /** Tokens of the longest sequence that the device holds: at most the model's context. */
  readonly contextLength: number;
  /** A sequence's default limit in tokens, or less if the device's K/V cache holds less. */
  readonly usualContext: number;
  /** Weights as the runtime keeps them. */
  readonly weightBytes: number;
  /** K/V of one sequence of `usualContext`. */
  readonly kvBytes: number;
  /** Weights, and the K/V of one such sequence and of its staging row. */
  readonly deviceBytes: number;
  /** Why the model does not fit, with room for such a sequence; `undefined` where it does. */
  readonly obstacle: string | undefined;
}

/** onnxruntime-web addresses external data with 32 bits, and a model's memory on the CPU ends at the same size. */
const LARGEST_FILE = 2 ** 32;

/** Memory on the CPU beside weights and K/V: activations and logits. */
const CPU_OVERHEAD = 2 ** 25;

/** A model's memory on the CPU holds its weights too. */
export const LARGEST_WASM_CACHE = 2 ** 30;

/** Share of the machine's memory that one page may take. */
const LARGEST_SHARE = 0.75;

/** A prompt is prefilled in a row of its own, then copied to its slot. */
const ROWS_PER_SEQUENCE = 2;

/** A model with a shorter context is not useful. In tokens. */
const SMALLEST_CONTEXT = 256;

/** Says whether a packed model fits, and with how long a context. */
export function fitOnDevice(config: ModelConfig, layout: PackedLayout, device: DeviceLimits): DeviceFit {
  const weightBytes = device.kind === 'wasm' ? cpuWeightBytes(layout) + CPU_OVERHEAD : layout.size;
  const bytesPerToken = kvBytesPerToken(config, BYTES_PER_VALUE[layout.precision]);
  const onCache = cacheBounds(config, device, bytesPerToken);
  const beside = servingBeside(config, device);
  const bounds = [...memoryBounds(layout, device, weightBytes, bytesPerToken, beside), ...onCache];
  // Longer lists of tokens do not pass the schemas of messages.
  const longest = Math.min(config.contextLength, MAX_TOKEN_IDS);
  // No dtype helps against a small cache, so the context gives way to it.
  const roomInCache = Math.max(SMALLEST_CONTEXT, longestWithin(onCache));
  const usualContext = Math.min(longest, roomInCache, DEFAULT_POLICY.maxContextLength);
  const obstacle = bounds.find((bound) => bytesAt(bound, usualContext) > bound.limit);
  const kvBytes = usualContext * bytesPerToken;
  const deviceBytes = weightBytes + ROWS_PER_SEQUENCE * kvBytes;
  return {
    contextLength: Math.min(longest, longestWithin(bounds)),
    usualContext,
    weightBytes,
    kvBytes,
    deviceBytes,
    obstacle: obstacle && `as ${layout.dtype} ${explain(obstacle, usualContext)}`,
  };
}

/** The models that go on to serve beside this one. A model that generates replaces the one before. */
function servingBeside(config: ModelConfig, { serving = [] }: DeviceLimits): readonly ServingModel[] {
  return serving.filter(({ isEncoder }) => isEncoder || config.isEncoder);
}

/** What weights take on the CPU: those of 8 bits a byte each, with a scale and a sum for each output, others what they are stored in. */
export function cpuWeightBytes(layout: PackedLayout): number {
  return layout.tensors.reduce((sum, tensor) => {
    const count = countElements(tensor.shape);
    if (tensor.encoding === 'q8') return sum + count + (8 * count) / inputsOf(tensor);
    const sections = sectionsOf({ tensors: [tensor] });
    return sum + sections.reduce((bytes, { length }) => bytes + length, 0);
  }, 0);
}

/** Something that takes `fixed` bytes, and `perToken` more for each token of a sequence. */
interface Bound {
  readonly claim: string;
  readonly fixed: number;
  readonly perToken: number;
  readonly limit: number;
  readonly limitOf: string;
  /** Other models that share the limit. */
  readonly beside?: readonly ServingModel[];
}

/** Bytes that weights may have on a device, K/V aside. */
export function roomForWeights(device: DeviceLimits): number {
  const room = Math.min(LARGEST_FILE, LARGEST_SHARE * (device.memoryBytes ?? Infinity));
  return device.kind === 'webgpu' ? room : room - CPU_OVERHEAD;
}

type BufferBound = Pick<Bound, 'claim' | 'limit' | 'limitOf'>;
type GpuLimits = Extract<DeviceLimits, { kind: 'webgpu' }>;

/** Limits on weights, and on weights and K/V together. */
function memoryBounds(
  layout: PackedLayout,
  device: DeviceLimits,
  weightBytes: number,
  bytesPerToken: number,
  beside: readonly ServingModel[],
): readonly Bound[] {
  const perToken = ROWS_PER_SEQUENCE * bytesPerToken;
  const fixed = beside.reduce((sum, { bytes }) => sum + bytes, weightBytes);
  const all = { claim: 'it needs memory of', fixed, perToken, beside };
  const weights = { claim: 'its weights take', fixed: layout.size, perToken: 0 };
  const share = LARGEST_SHARE * (device.memoryBytes ?? Infinity);
  const everywhere: readonly Bound[] = [
    { ...weights, limit: LARGEST_FILE, limitOf: 'that onnxruntime-web can read' },
    { ...all, limit: share, limitOf: 'that a page may take on this machine' },
  ];
  if (device.kind === 'wasm')
    return [
      ...everywhere,
      { ...all, fixed: weightBytes, beside: [], limit: LARGEST_FILE, limitOf: 'of a WASM memory' },
    ];
  const lengths = layout.tensors.filter((tensor) => !isSplitByRows(tensor)).map(({ length }) => length);
  return [...everywhere, { ...ofBuffer(device), fixed: Math.max(0, ...lengths), perToken: 0 }];
}

/** Limits on the K/V of one sequence alone, which are the same for every dtype of a precision. */
function cacheBounds(config: ModelConfig, device: DeviceLimits, bytesPerToken: number): readonly Bound[] {
  const cache = { claim: 'the K/V cache takes', fixed: 0, perToken: ROWS_PER_SEQUENCE * bytesPerToken };
  if (device.kind === 'wasm')
    return [{ ...cache, limit: LARGEST_WASM_CACHE, limitOf: 'that a WASM memory has for it' }];
  return [
    // K or V of one layer.
    { ...ofBuffer(device), fixed: 0, perToken: bytesPerToken / (2 * config.numLayers) },
    // WebGPU does not report how much memory a GPU has: its largest buffer is the best hint.
    { ...cache, limit: device.maxBufferSize, limitOf: 'that this GPU has for it' },
  ];
}

function ofBuffer({ maxBufferSize, maxStorageBufferBindingSize }: GpuLimits): BufferBound {
  const limit = Math.min(maxBufferSize, maxStorageBufferBindingSize);
  return { claim: 'its largest buffer takes', limit, limitOf: 'that this GPU can bind' };
}

function longestWithin(bounds: readonly Bound[]): number {
  const lengths = bounds
    .filter(({ perToken }) => perToken > 0)
    .map(({ fixed, perToken, limit }) => Math.max(0, Math.floor((limit - fixed) / perToken)));
  return Math.min(...lengths);
}

function bytesAt({ fixed, perToken }: Bound, numTokens: number): number {
  return fixed + perToken * numTokens;
}

function explain(bound: Bound, numTokens: number): string {
  const { claim, perToken, limit, limitOf, beside = [] } = bound;
  const context = perToken === 0 ? '' : `with a context of ${numTokens} tokens `;
  const others = beside.map(({ id, bytes }) => `${megabytes(bytes)} of ${id}`).join(' and the ');
  const shared = others === '' ? '' : `, the ${others} included`;
  const remedy = others === '' ? '' : ' (a smaller model in its place makes room)';
  return `${context}${claim} ${megabytes(bytesAt(bound, numTokens))}${shared}, more than the ${megabytes(limit)} ${limitOf}${remedy}`;
}

function megabytes(bytes: number): string {
  return `${Math.ceil(bytes / 1e6)} MB`;
}
