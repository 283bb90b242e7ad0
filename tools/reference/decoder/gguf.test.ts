import { expect, it } from 'vitest';
import reference from '../fixtures/decoders-reference.json' with { type: 'json' };
import { memoryFile } from '../../../src/worker/models/formats/checkpoint-files.ts';
import type { CheckpointSource } from '../../../src/worker/models/checkpoint/find-tensors.ts';
import { openCheckpoint } from '../../../src/worker/models/checkpoint/open-checkpoint.ts';
import { ggufFiles } from '../../../src/worker/models/gguf/gguf-files.ts';
import {
  ReferenceExecutor,
  ReferenceRow,
  weightsOf,
} from '../../../src/worker/testing/reference-executor.ts';
import { DECODERS, WITHOUT_GGUF } from '../../hub-server/checkpoints/decoders.ts';
import { ggufCheckpoint } from '../../hub-server/checkpoints/gguf-checkpoint.ts';
import { CPU, packModel } from '../run-model.ts';

/** The metadata has numbers in fp32. */
const PRECISION = 1e-5;

/** Of the decoders that have a GGUF file. */
const LONGEST_WINDOW = 16;

async function ggufOf(id: string): Promise<CheckpointSource> {
  const file = memoryFile('model.gguf', await ggufCheckpoint(DECODERS.get(id)?.() ?? new Map()));
  return ggufFiles({ open: () => Promise.resolve(file) }, 'model.gguf');
}

it.each(Object.entries(reference).filter(([id]) => !WITHOUT_GGUF.includes(id)))(
  '%s as a GGUF file of llama.cpp gives the logits of transformers',
  async (id, { prompts }) => {
    const source = await ggufOf(id);
    const { packed } = await packModel(source, 'fp32', CPU);
    const executor = new ReferenceExecutor(
      packed.model.program,
      weightsOf({ ...packed, weights: await packed.weights.bytes() }),
    );
    const { promptTokenIds = [], logits = [] } =
      prompts.find((prompt) => prompt.logits && prompt.promptTokenIds.length > LONGEST_WINDOW) ?? {};
    expect(logits.length).toBeGreaterThan(0);
    const actual = executor.run(new ReferenceRow(), promptTokenIds).at(-1) ?? [];
    expect(Math.max(...logits.map((logit, i) => Math.abs(logit - (actual[i] ?? NaN))))).toBeLessThan(
      PRECISION,
    );
  },
);

it.each([
  ['generated/lfm2', 'layers.0.conv.conv.weight'],
  ['generated/lfm2', 'layers.1.conv.in_proj.weight'],
  ['generated/qwen35', 'layers.0.linear_attn.conv1d.weight'],
  ['generated/qwen35', 'layers.1.linear_attn.A_log'],
  ['generated/qwen35', 'layers.2.linear_attn.in_proj_b.weight'],
])('a GGUF file of %s without %s is refused by its name, before its weights are read', async (id, name) => {
  const source = await ggufOf(id);
  const weights = source.weights?.map(({ file, tensors }) => {
    expect([...tensors.keys()]).toContain(name);
    const others = [...tensors].filter(([given]) => given !== name);
    return {
      file: { ...file, read: () => Promise.reject(new Error('It was read')) },
      tensors: new Map(others),
    };
  });
  await expect(openCheckpoint({ ...source, weights: weights ?? [] })).rejects.toMatchObject({
    code: 'MODEL_FILE_CORRUPT',
    message: expect.stringContaining(`tensor ${name} is missing`),
  });
});
