import { UnsupportedModelError } from '../../../protocol/errors/model.ts';
import type { CheckpointTensor } from './checkpoint.ts';

/** Bytes that are compared before the weights are fetched: heads that differ do so from the start. */
const FIRST_BYTES = 2 ** 16;

/** @throws UnsupportedModelError as `requireTied`. */
export async function requireTiedFromTheStart(tensor: CheckpointTensor): Promise<void> {
  const { ownHead, begin, end, file } = tensor;
  if (ownHead) await requireTied(tensor, await file.read(begin, Math.min(begin + FIRST_BYTES, end)), 0);
}

/**
 * Compares bytes of an embedding, which is the head too, with the head that the checkpoint has beside it, if any. As
 * huggingface/transformers ties the two only where they are equal.
 *
 * @param at Offset of the bytes in the tensor.
 * @throws UnsupportedModelError where they differ.
 */
export async function requireTied(
  { name, ownHead }: CheckpointTensor,
  bytes: Uint8Array,
  at: number,
): Promise<void> {
  if (!ownHead) return;
  const { file, begin } = ownHead;
  const own = await file.read(begin + at, begin + at + bytes.length);
  if (bytes.every((byte, i) => byte === own[i])) return;
  throw UnsupportedModelError.of(
    `${file.name} has lm_head.weight with other values than ${name}, but config.json ties them: set tie_word_embeddings, or LFM2's tie_embedding, to false there`,
  );
}
