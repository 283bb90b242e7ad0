import {
  decoderCheckpoint,
  type DecoderConfig,
} from '../../tools/hub-server/checkpoints/decoder-checkpoint.ts';
import type { GeneratedCheckpoint } from '../../tools/hub-server/checkpoints/generated-checkpoint.ts';
import { gpt2Checkpoint } from '../../tools/hub-server/checkpoints/gpt2-checkpoint.ts';
import configs from '../../tools/reference/fp16/configs.json' with { type: 'json' };
import { folderOf, packModel } from '../../tools/reference/run-model.ts';
import { chooseDevice, createBackend } from '../../src/worker/runtime/devices/create-backend.ts';
import { GpuCalls } from './gpu-calls.ts';

const HEAD_SIZE = 32;
const NUM_ROWS = 2;

const FAMILIES = {
  'GPT-2': (numLayers: number) =>
    gpt2Checkpoint({
      config: { ...configs.gpt2, n_layer: numLayers, n_embd: configs.gpt2.n_head * HEAD_SIZE },
      dtype: 'F32',
      amplitude: 0.1,
    }),
  Llama: (numLayers: number) => decoder(configs.llama, numLayers),
  'Qwen 3': (numLayers: number) => decoder(configs.qwen3, numLayers),
  'Gemma 3': (numLayers: number) => decoder(configs.gemma3, numLayers),
} as const satisfies Readonly<Record<string, (numLayers: number) => GeneratedCheckpoint>>;

export type CountedFamily = keyof typeof FAMILIES;

function decoder(config: DecoderConfig, numLayers: number): GeneratedCheckpoint {
  return decoderCheckpoint({
    config: {
      ...config,
      num_hidden_layers: numLayers,
      head_dim: HEAD_SIZE,
      query_pre_attn_scalar: HEAD_SIZE,
    },
    generationConfig: {},
    tokenizerClass: 'PreTrainedTokenizerFast',
    seed: 2,
    isQuantized: false,
  });
}

/** What a decode step of a narrow model with so many layers asks of the GPU, when onnxruntime-web runs it and when it is replayed. */
export async function countDispatches(family: CountedFamily, numLayers: number) {
  const device = await chooseDevice('webgpu');
  const { packed } = await packModel(folderOf(FAMILIES[family](numLayers)), 'fp32', device);
  const { backend } = await createBackend(packed, device);
  backend.resize({ numSlots: NUM_ROWS, numStagingRows: 1, capacity: 128, numSnapshots: 0 });
  const calls = new GpuCalls();
  const counts: number[] = [];
  const lastIndices = Int32Array.from({ length: NUM_ROWS }, (_, row) => row);
  for (const _ of ['run', 'captured', 'replayed']) {
    calls.numDispatches = 0;
    const rows = { target: 'slots', numRows: NUM_ROWS, tokensPerRow: 1 } as const;
    await backend.forward({ ...rows, ids: lastIndices, positions: lastIndices, lastIndices });
    await backend.readLogits(NUM_ROWS);
    counts.push(calls.numDispatches);
  }
  calls.stop();
  await backend.release();
  const [run, , replayed] = counts;
  return { run, replayed };
}
