import { expect, it } from 'vitest';

import { createBackend } from '../../src/worker/runtime/devices/create-backend.ts';
import { DECODERS } from '../hub-server/checkpoints/decoders.ts';
import { digestOf, RECORDED } from './cpu-logits.ts';
import { CPU, folderOf, logitsOf, packModel } from './run-model.ts';

it.each(RECORDED)('$id in $dtype has the recorded bits', async ({ id, dtype, prompts, sha256 }) => {
  const { packed } = await packModel(folderOf(DECODERS.get(id)?.() ?? new Map()), dtype, CPU);
  const { backend } = await createBackend(packed, CPU);
  const [[last] = []] = await logitsOf(backend, packed.model.config.contextLength, prompts);
  expect(digestOf(last ?? [])).toBe(sha256);
});
