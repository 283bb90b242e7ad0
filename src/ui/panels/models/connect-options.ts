import type { ConnectOptions } from '../../../client/index.ts';

const NAMES = ['model', 'embedder', 'reranker', 'dtype', 'hub'] as const;

/** The options of models in the page's address, such as `?model=`. `connect` refuses other values. */
export function connectOptionsOf(search: string): Pick<ConnectOptions, (typeof NAMES)[number]> {
  const given = [...new URLSearchParams(search)].filter(([name]) => NAMES.some((known) => known === name));
  return Object.fromEntries(given);
}
