import { parseArgs } from 'node:util';

import { parseBackend, parseCount, parseList, parseModel, type BenchModel } from '../command-line.ts';
import { CASE_NAMES, type CaseName } from './cases.ts';
import type { BackendName } from './contender.ts';

export interface PeerOptions {
  readonly model: BenchModel;
  readonly backend: BackendName;
  readonly rounds: number;
  readonly cases: readonly CaseName[];
  /** Print the recorded results instead of measuring. */
  readonly isMarkdown: boolean;
}

export const USAGE = `\
  --model NAME    storyteller (default), or smollm2: a real model of PyPI, exported once by Python
  --backend NAME  wasm (default) or webgpu
  --rounds N      times that each library runs each case, interleaved (default 5, or 2 of smollm2)
  --cases NAMES   some of ${CASE_NAMES.join(',')}; printed, not recorded (default all)
  --markdown      print bench/peers.json as the tables of the README, measure nothing`;

export function parseOptions(args: readonly string[]): PeerOptions {
  const { values } = parseArgs({
    args: [...args],
    strict: true,
    options: {
      model: { type: 'string', default: 'storyteller' },
      backend: { type: 'string', default: 'wasm' },
      rounds: { type: 'string' },
      cases: { type: 'string' },
      markdown: { type: 'boolean', default: false },
    },
  });
  const model = parseModel(values.model);
  return {
    model,
    backend: parseBackend(values.backend),
    rounds: parseCount('--rounds', values.rounds ?? (model === 'smollm2' ? '2' : '5')),
    cases: parseList('--cases', values.cases, CASE_NAMES, String),
    isMarkdown: values.markdown,
  };
}
