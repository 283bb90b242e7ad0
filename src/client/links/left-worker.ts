import { namesOf } from '../../protocol/names.ts';

/**
 * The last worker of this app that its tab has ended by itself, by its lock. A tab that closes can't wait for its worker, but the page's own storage
 * takes the note at once.
 *
 * @param lifeLock Of a worker that this tab ends now.
 */
export function leftWorker(app?: string, lifeLock?: string): string | undefined {
  const { leftItem } = namesOf(app);
  try {
    if (lifeLock !== undefined) localStorage.setItem(leftItem, lifeLock);
    return localStorage.getItem(leftItem) ?? undefined;
  } catch {
    // Without storage for the page there is none for models, whose starts are counted.
    return undefined;
  }
}
