import { build } from 'vite';

import { pathOf } from '../paths.ts';

/** Builds the page as users get it. Returns its folder. */
export async function buildPage(): Promise<string> {
  await build({ root: pathOf(''), logLevel: 'warn' });
  return pathOf('dist');
}
