export function parseBackend(text: string): 'webgpu' | 'wasm' {
  if (text === 'webgpu' || text === 'wasm') return text;
  throw new Error(`Expected \`--backend\` to be webgpu or wasm, got \`${text}\` (string)`);
}

/** The embedded model, or a real one. */
const BENCH_MODELS = ['storyteller', 'smollm2'] as const;

export type BenchModel = (typeof BENCH_MODELS)[number];

export function parseModel(text: string): BenchModel {
  const model = BENCH_MODELS.find((name) => name === text);
  if (model) return model;
  throw new Error(`Expected \`--model\` to be ${BENCH_MODELS.join(' or ')}, got \`${text}\` (string)`);
}

export function parseCount(option: string, text: string): number {
  const count = Number(text);
  if (Number.isInteger(count) && count >= 1) return count;
  throw new Error(`Expected \`${option}\` to be an integer >= 1, got \`${text}\` (string)`);
}

/**
 * Reads a list of names, separated by commas.
 *
 * @returns The named items, in the order of the list; all items if the option is left out.
 * @throws Error if a name is unknown.
 */
export function parseList<Item>(
  option: string,
  names: string | undefined,
  items: readonly Item[],
  nameOf: (item: Item) => string,
): readonly Item[] {
  if (names === undefined) return items;
  return names.split(',').map((name) => {
    const item = items.find((candidate) => nameOf(candidate) === name);
    if (item === undefined) {
      const known = items.map(nameOf).join(', ');
      throw new Error(`Expected \`${option}\` to list some of ${known}, got \`${name}\``);
    }
    return item;
  });
}
