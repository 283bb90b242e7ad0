import { expect, it } from 'vitest';
import { DECODER_CASES, decoderOf, ENCODER_CASES, encoderOf } from './operation-cases.ts';
import { wrongLogits, wrongVectors, type TestedReader } from './operation-trial.ts';

/** Holds a reader of programs against `ReferenceExecutor`, operation by operation. Another reader calls it in a test file of its own. */
export function testOperations(reader: TestedReader): void {
  const models = Object.entries(DECODER_CASES).map(([says, layers]) => [says, decoderOf(layers)] as const);

  it.each(models)('computes %s', async (_, model) => {
    expect(await wrongLogits(reader, model)).toEqual({});
  });

  it('computes a head of its own', async () => {
    expect(await wrongLogits(reader, decoderOf(DECODER_CASES.rotary, true))).toEqual({});
  });

  it.each(Object.entries(ENCODER_CASES))('pools %s', async (_, encoder) => {
    expect(await wrongVectors(reader, encoderOf(encoder))).toEqual({});
  });
}
