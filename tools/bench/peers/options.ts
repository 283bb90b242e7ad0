import { parseArgs } from 'node:util';

import { parseBackend, parseCount, parseList } from '../command-line.ts';
import { CASE_NAMES, type CaseName } from './cases.ts';
import type { BackendName } from './contender.ts';

export interface PeerOptions {
  readonly backend: BackendName;
  readonly rounds: number;
  readonly cases: readonly CaseName[];
  /** Print the recorded results instead of measuring. */
  readonly isMarkdown: boolean;
}

export const USAGE = `\
  --backend NAME  wasm (default) or webgpu
  --rounds N      times that each library runs each case, interleaved (default 5)
  --cases NAMES   some of ${CASE_NAMES.join(',')}; printed, not recorded (default all)
  --markdown      print bench/peers.json as the tables of the README, measure nothing`;

export function parseOptions(args: readonly string[]): PeerOptions {
  const { values } = parseArgs({
    args: [...args],
    strict: true,
    options: {
      backend: { type: 'string', default: 'wasm' },
      rounds: { type: 'string', default: '5' },
      cases: { type: 'string' },
      markdown: { type: 'boolean', default: false },
    },
  });
  return {
    backend: parseBackend(values.backend),
    rounds: parseCount('--rounds', values.rounds),
    cases: parseList('--cases', values.cases, CASE_NAMES, String),
    isMarkdown: values.markdown,
  };
}
