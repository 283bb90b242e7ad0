import { DECODERS, SECOND_SHAPES, WITHOUT_GGUF } from '../../hub-server/checkpoints/decoders.ts';
import { ggufCheckpoint } from '../../hub-server/checkpoints/gguf-checkpoint.ts';

export const QUANTIZED_TYPES = ['Q8_0', 'Q4_0'] as const;

/** Ids of a decoder of each family. */
export const QUANTIZED_DECODERS: readonly string[] = [...DECODERS.keys()].filter(
  (id) => !WITHOUT_GGUF.includes(id) && !SECOND_SHAPES.includes(id),
);

export function quantizedDecoder(
  id: string,
  type: 'F32' | (typeof QUANTIZED_TYPES)[number],
): Promise<Uint8Array> {
  return ggufCheckpoint(DECODERS.get(id)?.() ?? new Map(), type);
}

export async function* quantizedDecoderFiles(): AsyncGenerator<readonly [name: string, bytes: Uint8Array]> {
  for (const id of QUANTIZED_DECODERS)
    for (const type of ['F32', ...QUANTIZED_TYPES] as const)
      yield [`${id}/${type}.gguf`, await quantizedDecoder(id, type)];
}
