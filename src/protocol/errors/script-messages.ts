import { shown } from '../../batching/base/errors.ts';
import { WorkerNotLoadedError } from './worker.ts';

// Apart from the class, which every page loads at its start.

const MAX_ADDRESS = 300;

/** @param answer The script's address, and what the server answers there; undefined if the browser doesn't tell. */
export function scriptNotLoaded(answer: string | undefined): WorkerNotLoadedError {
  const where = answer === undefined ? '' : ` (${shown(answer, MAX_ADDRESS)})`;
  return new WorkerNotLoadedError(
    `The worker's script couldn't be loaded${where}. Check that the file that \`worker\` names and all that it imports are served as ` +
      'JavaScript, that they have no syntax error and that the device is online, then reload the page.',
  );
}

/** @param directive The directive of the page's Content-Security-Policy that blocked the script. */
export function scriptBlocked(directive: string): WorkerNotLoadedError {
  return new WorkerNotLoadedError(
    `The page's Content-Security-Policy stops the worker's script: allow it with \`${directive} 'self'\`, then reload the page.`,
  );
}

/** For a page that is cross-origin isolated. */
export function scriptNotIsolated(url: string): WorkerNotLoadedError {
  return new WorkerNotLoadedError(
    `The page is cross-origin isolated, so the browser refuses the worker's script ${shown(url, MAX_ADDRESS)}: serve it with the header \`Cross-Origin-Embedder-Policy: require-corp\`, as the page is, then reload the page.`,
  );
}
