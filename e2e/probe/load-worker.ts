import { allowOwnScripts } from '../../src/platform/own-scripts.ts';
import { convertWeights } from '../../src/worker/models/checkpoint/convert-weights.ts';
import { planModel } from '../../src/worker/models/checkpoint/model-plan.ts';
import { openCheckpoint } from '../../src/worker/models/checkpoint/open-checkpoint.ts';
import { peakHeapOf } from '../../src/worker/models/checkpoint/test-support.ts';
import { ModelStore } from '../../src/worker/models/store/model-store.ts';
import { chooseDevice, limitsOf } from '../../src/worker/runtime/create-backend.ts';
import { setBuilds } from '../../src/worker/runtime/ort/ort.ts';
import { WASM_BUILD } from '../../src/worker/runtime/ort/wasm-build.ts';
import { WEBGPU_BUILD } from '../../src/worker/runtime/ort/webgpu-build.ts';
import { loadStoredModel } from '../../src/worker/serving/models/load-model.ts';
import { CHECKPOINTS } from '../../tools/hub-server/checkpoints/checkpoints.ts';
import { DECODERS } from '../../tools/hub-server/checkpoints/decoders.ts';
import { FULL_SIZE_LLAMA, fullSizeLlama } from '../../tools/hub-server/checkpoints/full-size-llama.ts';
import { folderOf, logitsOf } from '../../tools/reference/run-model.ts';
import type { LoadRequest, MeasuredLoad } from './measure-load.ts';

/** Tokens of the K/V cache. */
const CAPACITY = 64;
const GENERATED = new Map([...CHECKPOINTS, ...DECODERS, [FULL_SIZE_LLAMA, fullSizeLlama]]);

/** The memories that the runtime makes. */
const memories: WebAssembly.Memory[] = [];
WebAssembly.Memory = class extends WebAssembly.Memory {
  constructor(descriptor: WebAssembly.MemoryDescriptor) {
    super(descriptor);
    memories.push(this);
  }
};

allowOwnScripts();
setBuilds({ webgpu: WEBGPU_BUILD, wasm: WASM_BUILD });
self.addEventListener('message', ({ data }: MessageEvent<LoadRequest>) => {
  measure(data).then(
    (measured) => self.postMessage({ measured }),
    (error: unknown) => self.postMessage({ error: error instanceof Error ? error.stack : String(error) }),
  );
});

async function measure({ id, backend: kind, dtype, prompts }: LoadRequest): Promise<MeasuredLoad> {
  const checkpoint = await openCheckpoint(folderOf(GENERATED.get(id)?.() ?? new Map()));
  const device = await chooseDevice(kind);
  const plan = planModel(checkpoint, dtype, limitsOf(device));
  const { layout } = plan;
  const store = await ModelStore.open('probe');
  const origin = { id, hub: '', revision: '', commit: '' };
  const choice = { dtypeChoice: dtype, dtypeReason: '', hadFloat16: false };
  const { config, generationConfig, tokenizer, tokenizerConfig } = checkpoint;
  const texts = { config, generationConfig, tokenizer, tokenizerConfig };
  const folder = await store.write(origin, texts, choice, layout, (file) =>
    convertWeights(
      checkpoint,
      plan,
      (bytes, at) => void file.write(bytes, { at }),
      () => {},
    ),
  );
  const loaded = await loadStoredModel(folder, device, () => {});
  if ('encoder' in loaded) throw new TypeError('Expected a model that generates');
  const logits = await logitsOf(loaded.backend, Math.min(loaded.config.contextLength, CAPACITY), prompts);
  await loaded.backend.release();
  await store.delete(folder.key);
  return {
    packedBytes: layout.size,
    plannedHeapBytes: peakHeapOf(layout),
    wasmHeapBytes: memories.reduce((sum, { buffer }) => sum + buffer.byteLength, 0),
    logits: logits.map(([last = []]) => [...last]),
  };
}
