import { packInMemory } from '../../src/worker/models/checkpoint/convert-weights.ts';
import { planModel } from '../../src/worker/models/checkpoint/model-plan.ts';
import { openCheckpoint } from '../../src/worker/models/checkpoint/open-checkpoint.ts';
import { createTokenizer } from '../../src/worker/models/tokenizer/tokenizer.ts';
import { chooseDevice, limitsOf } from '../../src/worker/runtime/create-backend.ts';
import { EncoderBackend } from '../../src/worker/runtime/encoder/encoder-backend.ts';
import { ENCODERS } from '../../tools/hub-server/checkpoints/encoders.ts';
import { generatedFiles } from './generated-files.ts';

/**
 * The vectors of texts by the GPU alone, in fp32: all in one batch, and the first ones each in a batch of its own. The product lets the
 * CPU compute where it is faster, as beside a software adapter.
 */
export async function encodeOnGpu(id: string, texts: readonly string[], numAlone: number) {
  const checkpoint = await openCheckpoint(generatedFiles(ENCODERS.get(id)?.() ?? new Map()));
  const { model } = checkpoint;
  if (!model.encoder) throw new TypeError(`${id} generates`);
  const device = await chooseDevice('webgpu');
  const plan = planModel(checkpoint, 'fp32', limitsOf(device));
  const packed = { model, ...(await packInMemory(checkpoint, plan)) };
  const gpu = await EncoderBackend.create(packed, model.encoder, device);
  const tokenizer = await createTokenizer(checkpoint.tokenizer, checkpoint.tokenizerConfig);
  const rows = texts.map((text) => {
    const tokenIds = tokenizer.encode(text);
    return { tokenIds, numFirst: tokenIds.length };
  });
  const together = (await gpu.run(rows)).map((output) => [...output]);
  const alone: number[][] = [];
  for (const row of rows.slice(0, numAlone))
    alone.push(...(await gpu.run([row])).map((output) => [...output]));
  return { together, alone };
}
