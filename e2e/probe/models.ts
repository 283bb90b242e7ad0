import type { DtypeChoice } from '../../src/protocol/models.ts';
import type { PackedLayout } from '../../src/worker/models/checkpoint/packed-weights.ts';
import { logitsErrorBound } from '../../src/worker/models/checkpoint/test-support.ts';
import { chooseDevice, createBackend } from '../../src/worker/runtime/devices/create-backend.ts';
import type { DeviceChoice } from '../../src/worker/runtime/device-choice.ts';
import { findWrongValuesOf } from '../../src/worker/runtime/gpu-check/gpu-check.ts';
import type { CheckedModel, LoadedModel } from '../../src/worker/runtime/loaded-model.ts';
import { WebGpuRuntime } from '../../src/worker/runtime/webgpu/webgpu-runtime.ts';
import { loadFetchedModel } from '../../src/worker/serving/models/load-model.ts';
import { CHECKPOINTS } from '../../tools/hub-server/checkpoints/checkpoints.ts';
import { DECODERS } from '../../tools/hub-server/checkpoints/decoders.ts';
import { ENCODERS } from '../../tools/hub-server/checkpoints/encoders.ts';
import { folderOf, logitsOf, packModel } from '../../tools/reference/run-model.ts';

export type ProbeBackend = 'webgpu' | 'wasm';

export interface ModelChoice {
  readonly backend: ProbeBackend;
  /** A generated one; the embedded model where left out. */
  readonly id?: string;
  readonly dtype?: DtypeChoice;
  /** Limits the bytes that a shader binds, below the adapter's own limit. */
  readonly maxBindingBytes?: number;
}

/** A model that runs in this page, without a worker. */
export type ProbeModel = Pick<LoadedModel, 'config' | 'tokenizer' | 'backend'>;

interface OpenModel extends ProbeModel {
  readonly key: string;
  readonly device: DeviceChoice;
  readonly layout?: PackedLayout;
}

const GENERATED = new Map([...CHECKPOINTS, ...DECODERS]);

let open: OpenModel | undefined;

let chosen: Promise<DeviceChoice> | undefined;

/** One for all models of the page: they share their shaders, which a software adapter compiles for seconds. */
const chooseGpu = (): Promise<DeviceChoice> => (chosen ??= chooseDevice('webgpu'));

export async function requestRuntime(): Promise<WebGpuRuntime> {
  const { runtime } = await chooseGpu();
  if (!(runtime instanceof WebGpuRuntime)) throw new TypeError('Expected a GPU');
  return runtime;
}

/** The latest model stays open, and its shaders compiled. Calls must not overlap. */
export async function openModel(choice: ModelChoice): Promise<OpenModel> {
  const key = JSON.stringify(choice);
  if (open?.key === key) return open;
  const isShared = choice.backend === 'webgpu' && choice.maxBindingBytes === undefined;
  const device = await (isShared ? chooseGpu() : chooseDevice(choice.backend));
  const model = await (choice.id === undefined ? loadEmbedded(device) : loadGenerated(choice, device));
  // Not before: onnxruntime-web keeps the shaders of a device as long as it has a session.
  await open?.backend.release();
  open = { ...model, key, device };
  return open;
}

export async function loadEmbedded(device: DeviceChoice): Promise<LoadedModel> {
  const loaded = await loadFetchedModel({ source: { type: 'embedded' }, dtype: 'auto' }, device, () => {});
  if ('encoder' in loaded) throw new TypeError('Expected a model that generates');
  return loaded;
}

async function loadGenerated(
  { id = '', dtype = 'auto', maxBindingBytes }: ModelChoice,
  device: DeviceChoice,
) {
  const files = GENERATED.get(id)?.() ?? new Map();
  const { tokenizer, packed } = await packModel(folderOf(files), dtype, device);
  // The plan has seen the real limits: what is not an embedding would not fit.
  if (device.runtime instanceof WebGpuRuntime && maxBindingBytes !== undefined)
    Object.defineProperty(device.runtime.gpu.device.limits, 'maxStorageBufferBindingSize', {
      value: maxBindingBytes,
    });
  const { backend } = await createBackend(packed, device);
  return { config: packed.model.config, tokenizer, backend, layout: packed.packed };
}

/** @returns The dtype of a generated model, and an upper bound of RMS of its logits' error over RMS of the logits. */
export async function factsOf(choice: ModelChoice) {
  const { layout, device } = await openModel(choice);
  if (!layout) throw new TypeError('Expected a generated model');
  const bound = logitsErrorBound(layout, !(device.runtime instanceof WebGpuRuntime));
  return { dtype: layout.dtype, logitsErrorBound: bound };
}

/** @returns Logits [vocab] after the last token of each prompt, in fp32. */
export async function logitsAfter(
  choice: ModelChoice,
  prompts: readonly (readonly number[])[],
): Promise<number[][]> {
  const { backend, config } = await openModel(choice);
  const logits = await logitsOf(backend, config.contextLength, prompts);
  return logits.map(([last = []]) => [...last]);
}

/** @returns Where this GPU computes wrong values; '' where it computes right ones. */
export async function checkGpuFor(model: CheckedModel): Promise<string> {
  return (await findWrongValuesOf(await requestRuntime(), model, () => {})) ?? '';
}

/**
 * The vectors of texts by the GPU alone, in fp32: all in one batch, and the first ones each in a batch of its own. The product lets the
 * CPU compute where it is faster, as beside a software adapter.
 */
export async function encodeOnGpu(id: string, texts: readonly string[], numAlone: number) {
  const device = await chooseGpu();
  const { tokenizer, packed } = await packModel(folderOf(ENCODERS.get(id)?.() ?? new Map()), 'fp32', device);
  if (!packed.model.encoder) throw new TypeError(`${id} generates`);
  const [gpu] = await device.runtime.createEncoders(packed, packed.model.encoder);
  if (!gpu) throw new TypeError('Expected a backend');
  const rows = texts.map((text) => {
    const tokenIds = tokenizer.encode(text);
    return { tokenIds, numFirst: tokenIds.length };
  });
  const together = (await gpu.run(rows)).map((output) => [...output]);
  const alone: number[][] = [];
  for (const row of rows.slice(0, numAlone))
    alone.push(...(await gpu.run([row])).map((output) => [...output]));
  await gpu.release();
  return { together, alone };
}
