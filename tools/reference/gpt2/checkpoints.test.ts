import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import reference from '../fixtures/checkpoints-reference.json' with { type: 'json' };
import {
  ReferenceExecutor,
  ReferenceRow,
  weightsOf,
} from '../../../src/worker/testing/reference-executor.ts';
import { CHECKPOINTS, FULL_SIZE } from '../../hub-server/checkpoints/checkpoints.ts';
import type { GeneratedFile } from '../../hub-server/checkpoints/generated-file.ts';
import { CPU, folderOf, packModel } from '../run-model.ts';

/** The reference has seven digits. */
const PRECISION = 1e-6;

const HEADER_END = 14_291;

describe('generated checkpoints', () => {
  it('are those that the reference was computed for', () => {
    expect([...CHECKPOINTS.keys()].toSorted()).toEqual(Object.keys(reference).toSorted());
    for (const [id, { files }] of Object.entries(reference)) {
      if (id === FULL_SIZE) continue;
      const generated = [...(CHECKPOINTS.get(id)?.() ?? [])].map(([name, file]) => [
        name,
        describeFile(file),
      ]);
      expect({ id, files: Object.fromEntries(generated) }).toEqual({ id, files });
    }
  });

  it('have the layout of openai-community/gpt2 in full size', () => {
    const weights = CHECKPOINTS.get(FULL_SIZE)?.().get('model.safetensors');
    if (!weights) throw new Error('There are no weights.');
    expect(weights.size).toBe(548_105_171);
    expect(new DataView(weights.read(0, 8).buffer).getBigUint64(0, true)).toBe(BigInt(HEADER_END - 8));
    const header: object = JSON.parse(new TextDecoder().decode(weights.read(8, HEADER_END)));
    expect(Object.keys(header)).toHaveLength(160);
  });

  it.each([
    [0, 5000],
    [3, 4],
    [30_001, 30_002],
    [29_999, 50_003],
  ])('give bytes %d to %d as the whole has them', (begin, end) => {
    for (const id of ['generated/plain', 'generated/float16']) {
      const weights = CHECKPOINTS.get(id)?.().get('model.safetensors');
      const whole = weights?.read(0, weights.size);
      expect(weights?.read(begin, end)).toEqual(whole?.slice(begin, end));
    }
  });
});

it.each(Object.entries(reference).filter(([id]) => id !== FULL_SIZE))(
  'the executor that readers are held against gives the logits of NumPy for %s',
  async (id, { prompts }) => {
    const { packed } = await packModel(folderOf(CHECKPOINTS.get(id)?.() ?? new Map()), 'fp32', CPU);
    const executor = new ReferenceExecutor(
      packed.model.program,
      weightsOf({ ...packed, weights: await packed.weights.bytes() }),
    );
    for (const prompt of prompts) {
      const logits = 'logits' in prompt ? prompt.logits : [];
      const actual = executor.run(new ReferenceRow(), prompt.promptTokenIds).at(-1) ?? [];
      expect(actual).toHaveLength(logits.length);
      const errors = logits.map((logit, i) => Math.abs(logit - (actual[i] ?? NaN)));
      expect(Math.max(...errors)).toBeLessThan(PRECISION);
    }
  },
);

function describeFile(file: GeneratedFile): { size: number; sha256: string } {
  const sha256 = createHash('sha256').update(file.read(0, file.size)).digest('hex');
  return { size: file.size, sha256 };
}
