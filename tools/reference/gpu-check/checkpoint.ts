import { safetensorsFile } from '../../../src/worker/testing/safetensors-builder.ts';
import { readModel } from '../../../src/worker/models/families/families.ts';
import { seededTensors } from '../../../src/worker/runtime/gpu-check/seeded-tensors.ts';

/** The weights of a case as a safetensors file, under the names that the hub gives them. */
export async function checkpointOf(config: object, seed: number): Promise<Uint8Array> {
  const model = readModel(config, undefined);
  const sources = [...seededTensors(model, seed).values()].flat();
  const tensors = sources.map(async ({ name, shape, file, begin, end }) => {
    return [
      `${model.tensorPrefix}${name}`,
      { dtype: 'F32', shape, bytes: await file.read(begin, end) },
    ] as const;
  });
  return safetensorsFile(Object.fromEntries(await Promise.all(tensors)));
}
