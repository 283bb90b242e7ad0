import type { ConnectOptions } from '../../../client/index.ts';

/** The options of the model in the page's address: `?model=`, `?dtype=` and `?hub=`. `connect` refuses other values. */
export function connectOptionsOf(search: string): Pick<ConnectOptions, 'model' | 'dtype' | 'hub'> {
  const given = [...new URLSearchParams(search)].filter(([name]) => ['model', 'dtype', 'hub'].includes(name));
  return Object.fromEntries(given);
}
