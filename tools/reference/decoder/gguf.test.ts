import { expect, it } from 'vitest';
import reference from '../fixtures/decoders-reference.json' with { type: 'json' };
import { memoryFile } from '../../../src/worker/models/formats/checkpoint-files.ts';
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

it.each(Object.entries(reference).filter(([id]) => !WITHOUT_GGUF.includes(id)))(
  '%s as a GGUF file of llama.cpp gives the logits of transformers',
  async (id, { prompts }) => {
    const bytes = await ggufCheckpoint(DECODERS.get(id)?.() ?? new Map());
    const file = memoryFile('model.gguf', bytes);
    const source = await ggufFiles({ open: () => Promise.resolve(file) }, 'model.gguf');
    const { packed } = await packModel(source, 'fp32', CPU);
    const executor = new ReferenceExecutor(
      packed.model.program,
      weightsOf({ ...packed, weights: await packed.weights.bytes() }),
    );
    const { promptTokenIds = [], logits = [] } = prompts.findLast((prompt) => prompt.logits) ?? {};
    const actual = executor.run(new ReferenceRow(), promptTokenIds).at(-1) ?? [];
    expect(Math.max(...logits.map((logit, i) => Math.abs(logit - (actual[i] ?? NaN))))).toBeLessThan(
      PRECISION,
    );
  },
);
