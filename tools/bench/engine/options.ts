import { parseArgs } from 'node:util';

export interface BenchOptions {
  readonly backend: 'webgpu' | 'wasm';
  readonly rounds: number;
  readonly maxNewTokens: number;
  /** Measure only the cost of a decode step. */
  readonly isStepsOnly: boolean;
  /** Measure only WASM with different numbers of threads. */
  readonly isThreadsOnly: boolean;
  /** Print the recorded results instead of measuring. */
  readonly isMarkdown: boolean;
}

export const USAGE = `Usage: npm run bench -- [options]
  --backend NAME      wasm (default) or webgpu
  --rounds N          times that each scenario is measured, interleaved (default 3)
  --max-new-tokens N  tokens of each request (default 64)
  --steps             measure only what a decode step costs, which is part of a run on webgpu
  --threads           measure only 1, 2 and 4 threads, which is part of a run on wasm
  --markdown          print bench/results.json as the tables of the README, measure nothing`;

export function parseOptions(args: readonly string[]): BenchOptions {
  const { values } = parseArgs({
    args: [...args],
    strict: true,
    options: {
      backend: { type: 'string', default: 'wasm' },
      rounds: { type: 'string', default: '3' },
      'max-new-tokens': { type: 'string', default: '64' },
      steps: { type: 'boolean', default: false },
      threads: { type: 'boolean', default: false },
      markdown: { type: 'boolean', default: false },
    },
  });
  const backend = parseBackend(values.backend);
  if (values.steps && backend !== 'webgpu') {
    throw new Error(`Expected \`--steps\` with --backend webgpu, got ${backend}: add --backend webgpu`);
  }
  if (values.threads && backend !== 'wasm') {
    throw new Error(`Expected \`--threads\` with --backend wasm, got ${backend}: leave --backend out`);
  }
  return {
    backend,
    rounds: parseCount('--rounds', values.rounds),
    maxNewTokens: parseCount('--max-new-tokens', values['max-new-tokens']),
    isStepsOnly: values.steps,
    isThreadsOnly: values.threads,
    isMarkdown: values.markdown,
  };
}

export function parseBackend(text: string): 'webgpu' | 'wasm' {
  if (text === 'webgpu' || text === 'wasm') return text;
  throw new Error(`Expected \`--backend\` to be webgpu or wasm, got \`${text}\` (string)`);
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
