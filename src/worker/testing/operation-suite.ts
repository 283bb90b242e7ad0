import { expect, it } from 'vitest';
import type { Model } from '../models/family.ts';
import type { Op } from '../models/program/program.ts';
import { errorWith } from './error-with.ts';
import { DECODER_CASES, decoderOf, ENCODER_CASES, encoderOf } from './operation-cases.ts';
import { prepare, wrongLogits, wrongVectors, type TestedReader } from './operation-trial.ts';

interface SuitedReader extends TestedReader {
  /** Operations that it refuses by their names. */
  readonly refuses: readonly Op['kind'][];
}

/** Holds a reader of programs against `ReferenceExecutor`, operation by operation. Another reader calls it in a test file of its own. */
export function testOperations(reader: SuitedReader): void {
  const models = Object.entries(DECODER_CASES).map(([says, layers]) => [says, decoderOf(layers)] as const);
  const refusedIn = (model: Model) => model.program.ops.find(({ kind }) => reader.refuses.includes(kind));

  it.each(models.filter(([, model]) => !refusedIn(model)))('computes %s', async (_, model) => {
    expect(await wrongLogits(reader, model)).toEqual({});
  });

  it.each(models.filter(([, model]) => refusedIn(model)))('refuses %s', async (_, model) => {
    const { packed } = await prepare(model, reader.dtype);
    const refusal = errorWith('UNSUPPORTED_MODEL', `${refusedIn(model)?.kind} operation`);
    await expect(reader.createBackend(packed)).rejects.toThrow(refusal);
  });

  it('computes a head of its own', async () => {
    expect(await wrongLogits(reader, decoderOf(DECODER_CASES.rotary, true))).toEqual({});
  });

  it.each(Object.entries(ENCODER_CASES))('pools %s', async (_, encoder) => {
    expect(await wrongVectors(reader, encoderOf(encoder))).toEqual({});
  });
}
