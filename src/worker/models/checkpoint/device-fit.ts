import { DEFAULT_POLICY } from '../../../batching/generation/policy.ts';
import { MAX_TOKEN_IDS } from '../../../protocol/wire.ts';
import type { Model } from '../family.ts';
import { isSplitByRows, type ModelConfig } from '../program/model-config.ts';
import { rowBytesOf, type RowBytes } from '../program/layer-state.ts';
import { BYTES_PER_VALUE, type PackedLayout, type PackedTensor } from './packed-weights.ts';

/** A model that serves on the device, and what it takes there. */
export interface ServingModel {
  readonly id: string;
  readonly isEncoder: boolean;
  readonly bytes: number;
}

/** A limit, and the words for what it is one of: `that this GPU can bind`. */
export interface Limit {
  readonly bytes: number;
  readonly limitOf: string;
}

/** A runtime's encodings, and the memory that it has. */
export interface RuntimeLimits {
  /** Encodings of weights that it reads. */
  readonly encodings: readonly PackedTensor['encoding'][];
  /** Bytes that packed weights take there, with `overheadBytes`. */
  weightBytes(layout: PackedLayout): number;
  /** A model takes these bytes beside its weights and what its rows keep. */
  readonly overheadBytes: number;
  /** Weights of more bytes are much faster in 8 bits. */
  readonly largestInFloat32: number;
  /** Limits what the rows of one sequence keep. */
  readonly cache: Limit;
  /** Limits a tensor that isn't split, and the keys of a layer. No limit where left out, as for `memory`. */
  readonly buffer?: Limit;
  /** Limits one model, apart from others. */
  readonly memory?: Limit;
}

/** Limits of a device beside what serves on it. */
export type DeviceLimits = RuntimeLimits & {
  /** Empty by default. */
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
  /** One sequence of `usualContext` keeps these bytes. */
  readonly kvBytes: number;
  /** Weights, and what one such sequence and its staging row keep. */
  readonly deviceBytes: number;
  /** Why the model does not fit, with room for such a sequence; `undefined` where it does. */
  readonly obstacle: string | undefined;
}

/** onnxruntime-web addresses external data with 32 bits, and a model's memory on the CPU ends at the same size. */
const LARGEST_FILE = 2 ** 32;

/** Share of the machine's memory that one page may take. */
const LARGEST_SHARE = 0.75;

/** A prompt is prefilled in a row of its own, then copied to its slot. */
const ROWS_PER_SEQUENCE = 2;

/** A model with a shorter context is not useful. In tokens. */
const SMALLEST_CONTEXT = 256;

/** The parts of a model that take memory beside its weights. */
interface FittedModel {
  readonly config: ModelConfig;
  readonly program: Pick<Model['program'], 'states'>;
}

/** Says whether a packed model fits, and with how long a context. */
export function fitOnDevice(
  { config, program }: FittedModel,
  layout: PackedLayout,
  device: DeviceLimits,
): DeviceFit {
  const weightBytes = device.weightBytes(layout);
  const row = rowBytesOf(program.states, BYTES_PER_VALUE[layout.precision]);
  const onCache = cacheBounds(device, row);
  const beside = servingBeside(config, device);
  const bounds = [...memoryBounds(layout, device, weightBytes, row, beside), ...onCache];
  // Longer lists of tokens do not pass the schemas of messages.
  const longest = Math.min(config.contextLength, MAX_TOKEN_IDS);
  // No dtype helps against a small cache, so the context gives way to it.
  const roomInCache = Math.max(SMALLEST_CONTEXT, longestWithin(onCache));
  const usualContext = Math.min(longest, roomInCache, DEFAULT_POLICY.maxContextLength);
  const obstacle = bounds.find((bound) => bytesAt(bound, usualContext) > bound.limit.bytes);
  const kvBytes = row.bytesPerRow + usualContext * row.bytesPerToken;
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

/** Something that takes `fixed` bytes, and `perToken` more for each token of a sequence. */
interface Bound {
  readonly claim: string;
  readonly fixed: number;
  readonly perToken: number;
  readonly limit: Limit;
  /** Other models that share the limit. */
  readonly beside?: readonly ServingModel[];
}

/** Bytes that weights may have on a device, K/V aside. */
export function roomForWeights(device: DeviceLimits): number {
  const room = Math.min(LARGEST_FILE, LARGEST_SHARE * (device.memoryBytes ?? Infinity));
  return room - device.overheadBytes;
}

/** Limits on weights, and on weights and K/V together. */
function memoryBounds(
  layout: PackedLayout,
  device: DeviceLimits,
  weightBytes: number,
  row: RowBytes,
  beside: readonly ServingModel[],
): readonly Bound[] {
  const ofRows = rowsOfOne(row);
  const fixed = beside.reduce((sum, { bytes }) => sum + bytes, weightBytes + ofRows.fixed);
  const all = { claim: 'it needs memory of', fixed, perToken: ofRows.perToken, beside };
  const weights = { claim: 'its weights take', fixed: layout.size, perToken: 0 };
  const share = LARGEST_SHARE * (device.memoryBytes ?? Infinity);
  const bounds: readonly Bound[] = [
    { ...weights, limit: { bytes: LARGEST_FILE, limitOf: 'that one file can have' } },
    { ...all, limit: { bytes: share, limitOf: 'that a page may take on this machine' } },
  ];
  if (device.memory) {
    const alone = { ...all, fixed: weightBytes + ofRows.fixed, beside: [] };
    return [...bounds, { ...alone, limit: device.memory }];
  }
  const lengths = layout.tensors.filter((tensor) => !isSplitByRows(tensor)).map(({ length }) => length);
  return [...bounds, ...bufferBounds(device, { fixed: Math.max(0, ...lengths), perToken: 0 })];
}

/** The rows of one sequence take this much. */
function rowsOfOne({ bytesPerRow, bytesPerToken }: RowBytes): Pick<Bound, 'fixed' | 'perToken'> {
  return { fixed: ROWS_PER_SEQUENCE * bytesPerRow, perToken: ROWS_PER_SEQUENCE * bytesPerToken };
}

/** Limits on what one sequence keeps, which are the same for every dtype of a precision. */
function cacheBounds(device: DeviceLimits, row: RowBytes): readonly Bound[] {
  const cache = { claim: 'the K/V cache takes', ...rowsOfOne(row), limit: device.cache };
  return [...bufferBounds(device, { fixed: 0, perToken: row.largestPerToken }), cache];
}

function bufferBounds({ buffer }: DeviceLimits, size: Pick<Bound, 'fixed' | 'perToken'>): readonly Bound[] {
  return buffer ? [{ claim: 'its largest buffer takes', ...size, limit: buffer }] : [];
}

function longestWithin(bounds: readonly Bound[]): number {
  const lengths = bounds
    .filter(({ perToken }) => perToken > 0)
    .map(({ fixed, perToken, limit }) => Math.max(0, Math.floor((limit.bytes - fixed) / perToken)));
  return Math.min(...lengths);
}

function bytesAt({ fixed, perToken }: Bound, numTokens: number): number {
  return fixed + perToken * numTokens;
}

function explain(bound: Bound, numTokens: number): string {
  const { claim, perToken, limit, beside = [] } = bound;
  const context = perToken === 0 ? '' : `with a context of ${numTokens} tokens `;
  const others = beside.map(({ id, bytes }) => `${megabytes(bytes)} of ${id}`).join(' and the ');
  const shared = others === '' ? '' : `, the ${others} included`;
  const remedy = others === '' ? '' : ' (a smaller model in its place makes room)';
  return `${context}${claim} ${megabytes(bytesAt(bound, numTokens))}${shared}, more than the ${megabytes(limit.bytes)} ${limit.limitOf}${remedy}`;
}

function megabytes(bytes: number): string {
  return `${Math.ceil(bytes / 1e6)} MB`;
}
