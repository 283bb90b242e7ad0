import { DECODERS } from '../../hub-server/checkpoints/decoders.ts';
import { ggufCheckpoint, type KeyChanges } from '../../hub-server/checkpoints/gguf-checkpoint.ts';

interface GgufVariant {
  /** One of `DECODERS`. */
  readonly base: string;
  readonly changes: KeyChanges;
}

const YARN = { 'rope.scaling.type': 'yarn', 'rope.scaling.original_context_length': 64 } as const;

/** GGUF files whose keys change what a model computes, as writers other than llama.cpp's own converter have them. */
const GGUF_VARIANTS: Readonly<Record<string, GgufVariant>> = {
  linear: {
    base: 'generated/qwen2',
    changes: { 'rope.scaling.type': 'linear', 'rope.scaling.factor': 4 },
  },
  'linear-untyped': { base: 'generated/qwen2', changes: { 'rope.scaling.factor': 4 } },
  'linear-old-name': { base: 'generated/qwen2', changes: { 'rope.scale_linear': 2.5 } },
  'scaled-by-none': {
    base: 'generated/qwen2',
    changes: { 'rope.scaling.type': 'none', 'rope.scaling.factor': 4 },
  },
  yarn: { base: 'generated/qwen2', changes: { ...YARN, 'rope.scaling.factor': 4 } },
  'yarn-without-factor': { base: 'generated/qwen2', changes: YARN },
  'default-base': { base: 'generated/qwen3', changes: { 'rope.freq_base': undefined } },
  'gemma-without-window': { base: 'generated/gemma3', changes: { 'attention.sliding_window': undefined } },
  'gemma-windows-by-period': {
    base: 'generated/gemma3',
    changes: { 'attention.sliding_window': 8, 'attention.sliding_window_pattern': 3 },
  },
  'gemma-window-in-all': {
    base: 'generated/gemma3',
    changes: { 'attention.sliding_window': 8, 'attention.sliding_window_pattern': 0 },
  },
  'gemma-linear': {
    base: 'generated/gemma3',
    changes: { 'rope.scaling.type': 'linear', 'rope.scaling.factor': 8, 'rope.freq_base_swa': 20_000 },
  },
};

/** The files by their names. */
export async function ggufVariantFiles(): Promise<ReadonlyMap<string, Uint8Array>> {
  const files = Object.entries(GGUF_VARIANTS).map(async ([name, { base, changes }]) => {
    const generate = DECODERS.get(base);
    if (!generate) throw new Error(`There is no ${base}`);
    return [`${name}.gguf`, await ggufCheckpoint(generate(), 'F32', changes)] as const;
  });
  return new Map(await Promise.all(files));
}
