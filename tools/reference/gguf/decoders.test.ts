import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import reference from '../fixtures/gguf-decoders-reference.json' with { type: 'json' };
import { memoryFile } from '../../../src/worker/models/formats/checkpoint-files.ts';
import { isWeightDtype, readFloats } from '../../../src/worker/models/formats/float-formats.ts';
import type { CheckpointSource } from '../../../src/worker/models/checkpoint/find-tensors.ts';
import type { TensorView } from '../../../src/worker/models/formats/safetensors.ts';
import { ggufFiles } from '../../../src/worker/models/gguf/gguf-files.ts';
import { CPU, packModel } from '../run-model.ts';
import { QUANTIZED_DECODERS, QUANTIZED_TYPES, quantizedDecoder } from './decoders.ts';
import { IS_WHOLE, SEED } from '../../../src/batching/testing/whole-run.ts';

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** The same tensors in fp32, and the bytes of all. */
async function decoded(source: CheckpointSource) {
  const parts: Float32Array[] = [];
  let end = 0;
  const [weights] = source.weights ?? [];
  if (!weights) throw new Error('Expected weights');
  const { file, tensors } = weights;
  const views = new Map<string, TensorView>();
  for (const [name, view] of tensors) {
    if (!isWeightDtype(view.dtype)) throw new Error(`${name} has no weights`);
    // Without negative zeros.
    const values = readFloats(await file.read(view.begin, view.end), view.dtype).map((value) => value + 0);
    parts.push(values);
    views.set(name, { ...view, dtype: 'F32', begin: end, end: end + values.byteLength });
    end += values.byteLength;
  }
  const bytes = new Uint8Array(Buffer.concat(parts.map(({ buffer }) => Buffer.from(buffer))));
  return { bytes, source: { ...source, weights: [{ file: memoryFile(file.name, bytes), tensors: views }] } };
}

it('a decoder of each family is known', () => {
  expect(Object.keys(reference).toSorted()).toEqual(QUANTIZED_DECODERS.toSorted());
});

it.each(
  Object.entries(reference).flatMap(([id, types], index) =>
    // In a part each type is that of half of the decoders.
    QUANTIZED_TYPES.filter((_, at) => IS_WHOLE || (SEED + index + at) % 2 === 0).map(
      (type) => [id, type, types[type]] as const,
    ),
  ),
)(
  "%s in %s is the file of llama.cpp's package, and has the weights that the package decodes",
  async (id, type, expected) => {
    const bytes = await quantizedDecoder(id, type);
    expect(sha256(bytes)).toBe(expected.file);
    const source = await ggufFiles(
      { open: () => Promise.resolve(memoryFile('model.gguf', bytes)) },
      'model.gguf',
    );
    const exact = await decoded(source);
    expect(sha256(exact.bytes)).toBe(expected.values);
    const [packed, packedExact] = await Promise.all(
      [source, exact.source].map(async (given) =>
        (await packModel(given, 'fp32', CPU)).packed.weights.bytes(),
      ),
    );
    expect(packed && packedExact && Buffer.compare(packed, packedExact)).toBe(0);
  },
);
