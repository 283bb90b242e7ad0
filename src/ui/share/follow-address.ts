import type { Composer } from '../compose/composer.ts';
import { readPermalink } from './permalink.ts';

/** Follows a link that is pasted into the address of the open page, for which the browser itself loads nothing. */
export function followAddress(composer: Composer): void {
  window.addEventListener('hashchange', () => {
    const { prompt, texts, load } = readPermalink(location.hash);
    // The plan of a load test is read once, and what runs by another one is not to go on behind it.
    if (load !== undefined) location.reload();
    else if (prompt !== undefined) composer.restore(prompt, texts);
  });
}
