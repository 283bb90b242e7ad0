import { allowOwnScripts } from '../client/index.ts';

/** The page's own worker, with the page's deployments. */
export function createWorker(): Worker {
  allowOwnScripts();
  return new Worker(new URL('../worker/main.ts', import.meta.url), { type: 'module', name: 'tabserve' });
}
