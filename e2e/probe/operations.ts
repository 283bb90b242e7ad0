import { DECODER_CASES, decoderOf, type Layers } from '../../src/worker/testing/operation-cases.ts';
import { wrongLogits, type Wrong } from '../../src/worker/testing/operation-trial.ts';
import { requestRuntime } from './models.ts';

/** @returns What this GPU computes otherwise than `ReferenceExecutor` does, in fp32. */
export async function wrongOperation(says: string): Promise<Wrong> {
  const layers = new Map(Object.entries<Layers>(DECODER_CASES)).get(says);
  if (!layers) throw new Error(`There is no case of ${says}`);
  const runtime = await requestRuntime();
  return wrongLogits(
    { dtype: 'fp32', tolerance: 1e-5, createBackend: (model) => runtime.createGenerator(model) },
    decoderOf(layers),
  );
}
