import { parseArgs } from 'node:util';

import { parseBackend, parseCount } from '../command-line.ts';

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

export const USAGE = `\
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
