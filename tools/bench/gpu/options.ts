import { parseArgs } from 'node:util';

import { parseCount, parseList } from '../command-line.ts';
import { PRECISIONS, type Precision } from './contender.ts';
import type { Matrix } from './plan.ts';
import { SHAPES, TINY_SHAPES, type Shape } from './shapes.ts';

export interface GpuOptions {
  readonly isShort: boolean;
  readonly shapes: readonly Shape[];
  readonly precisions: readonly Precision[];
  readonly matrix: Matrix;
  readonly rounds: number;
  /** Path of the browser's executable. If left out, it is found as in all benchmarks. */
  readonly browser: string | undefined;
  /** Further command-line arguments of the browser. */
  readonly browserArgs: readonly string[];
  /** Use the page that an earlier run has built. */
  readonly isBuilt: boolean;
}

const WHOLE: Matrix = {
  rows: [1, 2, 4, 8, 16, 32],
  prefillLengths: [128, 512],
  contextLengths: [128, 1024],
  numNewTokens: 32,
};

const SHORT: Matrix = { rows: [1, 2, 4], prefillLengths: [32], contextLengths: [48], numNewTokens: 8 };

export const USAGE = `\
  --short             tiny models and few cases, on any adapter; records nothing
  --models NAMES      some of ${SHAPES.map(({ id }) => id).join(',')} (default all)
  --precisions NAMES  some of ${PRECISIONS.join(',')} (default all)
  --rows NUMBERS      requests at once (default ${WHOLE.rows.join(',')})
  --rounds N          times that each case is measured, interleaved (default 3; 1 with --short)
  --browser PATH      Chrome or Chromium (default: CHROME_PATH, else the installed one)
  --args=ARGUMENTS    further arguments of the browser, separated by spaces
  --built             use the page that an earlier run has built`;

export function parseOptions(args: readonly string[]): GpuOptions {
  const { values } = parseArgs({
    args: [...args],
    strict: true,
    options: {
      short: { type: 'boolean', default: false },
      models: { type: 'string' },
      precisions: { type: 'string' },
      rows: { type: 'string' },
      rounds: { type: 'string' },
      browser: { type: 'string' },
      args: { type: 'string', default: '' },
      built: { type: 'boolean', default: false },
    },
  });
  const shapes = values.short ? TINY_SHAPES : SHAPES;
  const matrix = values.short ? SHORT : WHOLE;
  return {
    isShort: values.short,
    shapes: parseList('--models', values.models, shapes, ({ id }) => id),
    precisions: parseList('--precisions', values.precisions, PRECISIONS, String),
    matrix: { ...matrix, rows: parseRows(values.rows) ?? matrix.rows },
    rounds: values.rounds === undefined ? (values.short ? 1 : 3) : parseCount('--rounds', values.rounds),
    browser: values.browser,
    browserArgs: values.args.split(' ').filter((argument) => argument !== ''),
    isBuilt: values.built,
  };
}

/** In ascending order, each once. */
function parseRows(text: string | undefined): readonly number[] | undefined {
  if (text === undefined) return undefined;
  const counts = new Set(text.split(',').map((count) => parseCount('--rows', count)));
  return [...counts].toSorted((a, b) => a - b);
}
