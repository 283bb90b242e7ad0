import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { readModel } from '../../../src/worker/models/families/families.ts';
import { convertWeights } from '../../../src/worker/models/checkpoint/convert-weights.ts';
import { readFloats, toFloat16 } from '../../../src/worker/models/formats/float-formats.ts';
import { layOut } from '../../../src/worker/models/checkpoint/packed-weights.ts';
import reference from '../../../src/worker/runtime/gpu-check/reference.json' with { type: 'json' };
import { seededTensors } from '../../../src/worker/runtime/gpu-check/seeded-tensors.ts';
import CASES from './cases.json' with { type: 'json' };
import { checkpointOf } from './checkpoint.ts';

it.each(CASES.map((given) => [given.config.model_type, given] as const))(
  '%s is checked with the model that the reference was computed for',
  async (name, { modelTypes, config, seed }) => {
    const sha256 = createHash('sha256')
      .update(await checkpointOf(config, seed))
      .digest('hex');
    const [known, ...others] = reference.cases.filter((given) => given.config.model_type === name);
    expect(others).toEqual([]);
    expect(known).toMatchObject({ modelTypes, config, seed, sha256 });
  },
);

it.each(CASES.map(({ config, seed }) => [config.model_type, config, seed] as const))(
  'fp16, q8 and q4 hold the weights of %s exactly, so that one reference is right for all',
  async (_name, config, seed) => {
    const model = readModel(config, undefined);
    const tensors = seededTensors(model, seed);
    for (const source of [...tensors.values()].flat()) {
      const { buffer } = await source.file.read(source.begin, source.end);
      const halves = new Uint8Array(toFloat16(new Float32Array(buffer)).buffer);
      expect(Buffer.from(readFloats(halves, 'F16').buffer).equals(new Uint8Array(buffer))).toBe(true);
    }
    for (const dtype of ['q8', 'q4'] as const) {
      const layout = layOut(model.program.weights, dtype, 'float32');
      const errors = await convertWeights({ tensors }, { layout }, () => {});
      expect(Object.keys(errors).length).toBeGreaterThan(8);
      expect(Object.values(errors).filter((error) => error !== 0)).toEqual([]);
    }
  },
);
