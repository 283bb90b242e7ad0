import { memoryFile } from '../../../src/worker/models/checkpoint/checkpoint-files.ts';
import { packInMemory } from '../../../src/worker/models/checkpoint/convert-weights.ts';
import { planModel } from '../../../src/worker/models/checkpoint/model-plan.ts';
import { openCheckpoint } from '../../../src/worker/models/checkpoint/open-checkpoint.ts';
import { createTokenizer } from '../../../src/worker/models/tokenizer/tokenizer.ts';
import { setBuilds } from '../../../src/worker/runtime/ort/ort.ts';
import { WASM_BUILD } from '../../../src/worker/runtime/ort/wasm-build.ts';
import type { DeviceChoice } from '../../../src/worker/runtime/device-choice.ts';
import { loadEncoder } from '../../../src/worker/runtime/encoder/load-encoder.ts';
import type { LoadedEncoder } from '../../../src/worker/runtime/encoder/loaded-encoder.ts';

/** An encoder on the CPU of Node, which computes in float32. */
export async function loadEncoderInNode(
  id: string,
  read: (name: string) => Uint8Array | undefined,
  dtype: 'fp32' | 'q8' = 'fp32',
): Promise<LoadedEncoder> {
  setBuilds({ wasm: WASM_BUILD });
  const checkpoint = await openCheckpoint({
    open(name) {
      const bytes = read(name);
      return Promise.resolve(bytes && memoryFile(name, bytes));
    },
  });
  const plan = planModel(checkpoint, dtype, { kind: 'wasm', memoryBytes: undefined });
  const tokenizer = await createTokenizer(checkpoint.tokenizer, checkpoint.tokenizerConfig);
  const { model } = checkpoint;
  if (!model.encoder) throw new TypeError(`${id} generates`);
  const packed = { model, ...(await packInMemory(checkpoint, plan)) };
  const device: DeviceChoice = { rung: 'wasm', fallbackReason: '', numThreads: 1 };
  const encoder = await loadEncoder(id, model.encoder, tokenizer, packed, device);
  return { ...encoder, deviceBytes: packed.packed.size };
}
