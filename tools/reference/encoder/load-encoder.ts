import { memoryFile } from '../../../src/worker/models/formats/checkpoint-files.ts';
import { loadEncoder } from '../../../src/worker/runtime/encoder/load-encoder.ts';
import type { LoadedEncoder } from '../../../src/worker/runtime/encoder/loaded-encoder.ts';
import { CPU, packModel } from '../run-model.ts';

export async function loadEncoderInNode(
  id: string,
  read: (name: string) => Uint8Array | undefined,
  dtype: 'fp32' | 'q8' = 'fp32',
): Promise<LoadedEncoder> {
  const open = (name: string) => {
    const bytes = read(name);
    return Promise.resolve(bytes && memoryFile(name, bytes));
  };
  const { tokenizer, packed } = await packModel({ open }, dtype, CPU);
  if (!packed.model.encoder) throw new TypeError(`${id} generates`);
  const encoder = await loadEncoder(id, packed.model.encoder, tokenizer, packed, CPU);
  return { ...encoder, deviceBytes: packed.packed.size };
}
