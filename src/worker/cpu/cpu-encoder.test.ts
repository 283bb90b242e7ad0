import { expect, it } from 'vitest';
import { checkpointWeights } from '../models/checkpoint/convert-weights.ts';
import { layOut } from '../models/checkpoint/packed-weights.ts';
import { seededTensors } from '../runtime/gpu-check/seeded-tensors.ts';
import { ENCODER_CASES, encoderOf, type EncoderCase } from '../testing/operation-cases.ts';
import { CpuEncoder } from './cpu-encoder.ts';

const MEAN = 'a mean, of tokens that attend to all';
const ROWS = [[3, 1, 4, 1, 5, 9, 2, 6], [5, 3], [31]].map((tokenIds) => ({ tokenIds, numFirst: 1 }));

async function create(encoderCase: EncoderCase | undefined): Promise<CpuEncoder> {
  if (!encoderCase) throw new Error('Expected a case');
  const model = encoderOf(encoderCase);
  const layout = layOut(model.program.weights, 'fp32', 'float32');
  const packed = checkpointWeights({ tensors: seededTensors(model, 1) }, { layout });
  return CpuEncoder.create({ model, ...packed }, model.encoder);
}

it('gives batches that are sent at once what each gets alone', async () => {
  const encoder = await create(ENCODER_CASES[MEAN]);
  const together = await Promise.all(ROWS.map((row) => encoder.run([row])));
  const alone = [];
  for (const row of ROWS) alone.push(await encoder.run([row]));
  expect(together).toEqual(alone);
});

it('is released behind the batches that it has been given', async () => {
  const encoder = await create(ENCODER_CASES[MEAN]);
  const ended: string[] = [];
  await Promise.all([
    encoder.run(ROWS).then(() => ended.push('batch')),
    encoder.release().then(() => ended.push('released')),
  ]);
  expect(ended).toEqual(['batch', 'released']);
});
