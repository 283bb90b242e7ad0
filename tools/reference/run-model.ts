import type { DtypeChoice } from '../../src/protocol/models.ts';
import { CpuRuntime } from '../../src/worker/cpu/cpu-runtime.ts';
import type { CheckpointFiles } from '../../src/worker/models/formats/checkpoint-files.ts';
import { checkpointWeights } from '../../src/worker/models/checkpoint/convert-weights.ts';
import { planModel } from '../../src/worker/models/checkpoint/model-plan.ts';
import { openCheckpoint } from '../../src/worker/models/checkpoint/open-checkpoint.ts';
import { createTokenizer } from '../../src/worker/models/tokenizer/tokenizer.ts';
import { limitsOf } from '../../src/worker/runtime/devices/create-backend.ts';
import type { DeviceChoice } from '../../src/worker/runtime/device-choice.ts';
import type { ModelBackend } from '../../src/worker/runtime/model-backend.ts';
import type { GeneratedFile } from '../hub-server/checkpoints/generated-file.ts';

/** One thread of the CPU. */
export const CPU: DeviceChoice = { rung: 'wasm', fallbackReason: '', runtime: new CpuRuntime(1) };

export function folderOf(files: ReadonlyMap<string, GeneratedFile>): CheckpointFiles {
  return {
    open(name) {
      const file = files.get(name);
      return Promise.resolve(
        file && { name, size: file.size, read: (begin, end) => Promise.resolve(file.read(begin, end)) },
      );
    },
  };
}

/** A checkpoint as the product loads it, with its weights packed for the device, in memory. */
export async function packModel(folder: CheckpointFiles, dtype: DtypeChoice, device: DeviceChoice) {
  const checkpoint = await openCheckpoint(folder);
  const plan = planModel(checkpoint, dtype, limitsOf(device));
  const tokenizer = await createTokenizer(checkpoint.tokenizer, checkpoint.tokenizerConfig);
  const packed = { model: checkpoint.model, ...checkpointWeights(checkpoint, plan) };
  return { checkpoint, tokenizer, packed };
}

/**
 * @param capacity Of the K/V cache, in tokens: at least the longest text's.
 * @param numGiven Tokens of each text before the first whose successor is asked for; by default all.
 * @returns Logits [vocab] of the successors of each text's token `numGiven`, and of those behind it, in fp32.
 */
export async function logitsOf(
  backend: ModelBackend,
  capacity: number,
  texts: readonly (readonly number[])[],
  numGiven = Infinity,
): Promise<readonly (readonly Float32Array[])[]> {
  backend.resize({ numSlots: 1, numStagingRows: 1, capacity, numSnapshots: 0 });
  const logits: (readonly Float32Array[])[] = [];
  for (const ids of texts) {
    const last = ids.length - 1;
    const scored = Int32Array.from(
      { length: Math.max(0, ids.length - numGiven) },
      (_, i) => numGiven - 1 + i,
    );
    await backend.forward({
      target: 'staging',
      numRows: 1,
      tokensPerRow: ids.length,
      ids: Int32Array.from(ids),
      positions: Int32Array.from(ids.keys()),
      lastIndices: Int32Array.of(last),
      ...(scored.length > 0 && { scoredTokens: scored }),
    });
    const values = await backend.readLogits(1 + scored.length);
    const vocabSize = values.length / (1 + scored.length);
    // The first row belongs to the last token.
    const rows = Array.from({ length: 1 + scored.length }, (_, row) =>
      values.slice(row * vocabSize, (row + 1) * vocabSize),
    );
    logits.push([...rows.slice(1), ...rows.slice(0, 1)]);
  }
  return logits;
}
