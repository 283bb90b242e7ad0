import { DECODERS } from '../../hub-server/checkpoints/decoders.ts';
import { ggufCheckpoint } from '../../hub-server/checkpoints/gguf-checkpoint.ts';
import variants from './variants.json' with { type: 'json' };

/** GGUF files by their names. Their keys change what a model computes, as writers other than llama.cpp's own converter have them. */
export async function ggufVariantFiles(): Promise<ReadonlyMap<string, Uint8Array>> {
  const files = Object.entries(variants).map(async ([name, { base, changes }]) => {
    const generate = DECODERS.get(`generated/${base}`);
    if (!generate) throw new Error(`There is no ${base}`);
    return [`${name}.gguf`, await ggufCheckpoint(generate(), 'F32', changes)] as const;
  });
  return new Map(await Promise.all(files));
}
