import { parseArgs } from 'node:util';

import { parseBackend, parseCount } from '../bench/options.ts';
import type { BackendName } from './contender.ts';

export interface PeerOptions {
  readonly backend: BackendName;
  readonly rounds: number;
  /** Print the recorded results instead of measuring. */
  readonly isMarkdown: boolean;
}

export const USAGE = `Usage: npm run bench:peers -- [options]
  --backend NAME  webgpu (default) or wasm
  --rounds N      times that each library runs each case, interleaved (default 5)
  --markdown      print bench/peers.json as the tables of the README, measure nothing`;

export function parseOptions(args: readonly string[]): PeerOptions {
  const { values } = parseArgs({
    args: [...args],
    strict: true,
    options: {
      backend: { type: 'string', default: 'webgpu' },
      rounds: { type: 'string', default: '5' },
      markdown: { type: 'boolean', default: false },
    },
  });
  return {
    backend: parseBackend(values.backend),
    rounds: parseCount('--rounds', values.rounds),
    isMarkdown: values.markdown,
  };
}
