import { kvSlot } from '../../src/batching/generation/kv-slots.ts';
import type { StepRow } from '../../src/batching/generation/model-runner.ts';
import { GREEDY } from '../../src/batching/generation/request.ts';
import { chooseDevice, createBackend, limitsOf } from '../../src/worker/runtime/create-backend.ts';
import { createRequestId } from '../../src/protocol/ids.ts';
import { int8Layout } from '../../src/worker/models/checkpoint/int8-weights.ts';
import { convertWeights } from '../../src/worker/models/checkpoint/convert-weights.ts';
import { planModel } from '../../src/worker/models/checkpoint/model-plan.ts';
import type { DtypeChoice } from '../../src/protocol/models.ts';
import { openCheckpoint } from '../../src/worker/models/checkpoint/open-checkpoint.ts';
import { logitsErrorBound, peakHeapOf } from '../../src/worker/models/checkpoint/test-support.ts';
import { lazyBytes } from '../../src/worker/models/checkpoint/packed-source.ts';
import type { ModelConfig } from '../../src/worker/models/model-config.ts';
import type { ModelBackend } from '../../src/worker/runtime/model-backend.ts';
import { allowOwnScripts } from '../../src/platform/own-scripts.ts';
import { setBuilds } from '../../src/worker/runtime/ort/ort.ts';
import { WASM_BUILD } from '../../src/worker/runtime/ort/wasm-build.ts';
import { WEBGPU_BUILD } from '../../src/worker/runtime/ort/webgpu-build.ts';
import { BackendRunner } from '../../src/worker/runtime/runner.ts';
import { CHECKPOINTS } from '../../tools/hub-server/checkpoints/checkpoints.ts';
import type { GeneratedCheckpoint } from '../../tools/hub-server/checkpoints/generated-checkpoint.ts';
import { DECODERS } from '../../tools/hub-server/checkpoints/decoders.ts';
import { FULL_SIZE_LLAMA, fullSizeLlama } from '../../tools/hub-server/checkpoints/full-size-llama.ts';
import type { CheckpointRequest, CheckpointRun } from './checkpoint-probe.ts';
import { generatedFiles } from './generated-files.ts';
import { logitsOf } from './logits-of.ts';

/** The used part of `FileSystemSyncAccessHandle`. */
interface SyncFile {
  read(target: Uint8Array, options: { readonly at: number }): number;
  write(bytes: Uint8Array, options: { readonly at: number }): number;
  truncate(size: number): void;
  getSize(): number;
  close(): void;
}

/** Workers have it, the page's types do not. */
interface SyncFileHandle {
  createSyncAccessHandle(): Promise<SyncFile>;
}

/** Tokens of the K/V cache. */
const CAPACITY = 64;

const ALL_CHECKPOINTS = new Map([...CHECKPOINTS, ...DECODERS, [FULL_SIZE_LLAMA, fullSizeLlama]]);

const heaps = watchHeaps();

allowOwnScripts();
setBuilds({ webgpu: WEBGPU_BUILD, wasm: WASM_BUILD });
self.addEventListener('message', ({ data }: MessageEvent<CheckpointRequest>) => {
  runAll(data).then(
    (runs) => self.postMessage({ runs }),
    (error: unknown) => self.postMessage({ error: error instanceof Error ? error.stack : String(error) }),
  );
});

async function runAll(request: CheckpointRequest): Promise<CheckpointRun[]> {
  const runs: CheckpointRun[] = [];
  for (const dtype of request.dtypes) runs.push(await runOnce(request, dtype));
  return runs;
}

async function runOnce(request: CheckpointRequest, dtype: DtypeChoice): Promise<CheckpointRun> {
  const checkpoint = await openCheckpoint(generatedFiles(requireCheckpoint(request.id)));
  const device = await chooseDevice(request.backend);
  const plan = planModel(checkpoint, dtype, limitsOf(device));
  const file = await openScratchFile();
  const startedAtMs = performance.now();
  const quantizationErrors = await convertWeights(
    checkpoint,
    plan,
    (bytes, at) => void file.write(bytes, { at }),
    () => {},
  );
  const convertedAtMs = performance.now();
  let scratch = new Uint8Array();
  const weights = lazyBytes(file.getSize(), (begin, end) => {
    if (scratch.byteLength < end - begin) scratch = new Uint8Array(end - begin);
    const bytes = scratch.subarray(0, end - begin);
    file.read(bytes, { at: begin });
    return bytes;
  });
  // The plan has seen the real limits: what is not an embedding would not fit.
  if ('gpu' in device && request.maxBindingBytes !== undefined) {
    const limits = {
      ...limitsOfGpu(device.gpu.device),
      maxStorageBufferBindingSize: request.maxBindingBytes,
    };
    Object.defineProperty(device.gpu.device, 'limits', { value: limits });
  }
  const { model } = checkpoint;
  const { config } = model;
  const { layout } = plan;
  const { backend } = await createBackend({ model, packed: layout, weights }, device);
  const createdAtMs = performance.now();
  file.close();
  const logits = await logitsOf(backend, Math.min(config.contextLength, CAPACITY), request.prompts);
  const greedyTokenIds = await continueAll(backend, config, request.prompts, request.numTokens);
  await backend.release();
  return {
    dtype: layout.dtype,
    packedBytes: layout.size,
    quantizationErrors,
    logitsErrorBound: logitsErrorBound(layout, ...('gpu' in device ? [] : [int8Layout(layout)])),
    plannedHeapBytes: peakHeapOf(layout),
    logits,
    greedyTokenIds,
    wasmHeapBytes: heaps.size(),
    convertMs: convertedAtMs - startedAtMs,
    createMs: createdAtMs - convertedAtMs,
  };
}

function requireCheckpoint(id: string): GeneratedCheckpoint {
  const files = ALL_CHECKPOINTS.get(id)?.();
  if (files) return files;
  throw new Error(`There is no checkpoint ${id}.`);
}

/** The limits are on the prototype, where a spread does not find them. */
function limitsOfGpu(device: GPUDevice): Record<string, number> {
  const limits: Record<string, number> = {};
  for (const name in device.limits) {
    const value: unknown = Reflect.get(device.limits, name);
    if (typeof value === 'number') limits[name] = value;
  }
  return limits;
}

async function openScratchFile(): Promise<SyncFile> {
  const folder = await navigator.storage.getDirectory();
  const handle = await folder.getFileHandle('packed', { create: true });
  if (!isSyncFileHandle(handle)) throw new Error('This browser has no synchronous files.');
  const file = await handle.createSyncAccessHandle();
  file.truncate(0);
  return file;
}

function isSyncFileHandle(handle: object): handle is SyncFileHandle {
  return 'createSyncAccessHandle' in handle;
}

/** Greedily, in one batch, through the runner that the engine drives. */
async function continueAll(
  backend: ModelBackend,
  config: ModelConfig,
  prompts: CheckpointRequest['prompts'],
  numTokens: number,
): Promise<number[][]> {
  if (numTokens === 0) return [];
  const runner = new BackendRunner(backend);
  const length = Math.max(...prompts.map((prompt) => prompt.length)) + numTokens;
  const capacity = Math.min(config.contextLength, length);
  const kvShape = { numSlots: prompts.length, numStagingRows: 1, capacity };
  const shared = { kvShape, transfers: [] };
  const rows: StepRow[] = prompts.map((prompt, index) => ({
    requestId: createRequestId(),
    slot: kvSlot(index),
    tokenIds: prompt,
    startPosition: 0,
    sampling: GREEDY,
    tokenCounts: new Map(prompt.map((id) => [id, 0])),
  }));
  const generated: number[][] = [];
  // One by one: the activations of several prompts would be larger than what a test lets a shader bind.
  for (const row of rows) {
    const prefill = { ...shared, kind: 'prefill', isLastChunk: true, reusedSlot: undefined } as const;
    const { tokenIds } = await runner.start({ ...prefill, rows: [row] }).output;
    generated.push(tokenIds.map(requireToken));
  }
  for (let step = 1; step < numTokens; step += 1) {
    const decoding = rows.map((row, i) => ({
      ...row,
      tokenIds: generated[i]?.slice(-1) ?? [],
      startPosition: row.tokenIds.length + step - 1,
    }));
    const output = await runner.start({ ...shared, kind: 'decode', isBehind: false, rows: decoding }).output;
    for (const [i, token] of output.tokenIds.entries()) generated[i]?.push(requireToken(token));
  }
  return generated;
}

function requireToken(token: number | Error): number {
  if (token instanceof Error) throw token;
  return token;
}

/** Remembers the memories that the runtime makes; must run before it is loaded. */
function watchHeaps(): { size(): number } {
  const memories: WebAssembly.Memory[] = [];
  WebAssembly.Memory = class extends WebAssembly.Memory {
    constructor(descriptor: WebAssembly.MemoryDescriptor) {
      super(descriptor);
      memories.push(this);
    }
  };
  return { size: () => memories.reduce((sum, { buffer }) => sum + buffer.byteLength, 0) };
}
