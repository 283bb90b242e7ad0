import type { RequestId } from '../../../client/index.ts';
import { highlightRequests, watchSettings } from '../watch/watch-settings.ts';

/** Highlights the request of the cell under the pointer or with the focus everywhere, and the cells of requests highlighted elsewhere. */
export function followHighlights(section: HTMLElement): () => void {
  let pointed: RequestId | undefined;
  let focused: RequestId | undefined;
  const highlight = (): void => {
    const id = pointed ?? focused;
    highlightRequests(id === undefined ? [] : [id]);
  };
  const show = (): void => {
    const { highlightedIds } = watchSettings.getState();
    for (const cell of section.querySelectorAll<HTMLElement>('[data-request-id]')) {
      const id = idOf(cell);
      cell.toggleAttribute('data-highlighted', id !== undefined && highlightedIds.has(id));
    }
  };
  const listening = new AbortController();
  const { signal } = listening;
  const point = ({ target, type }: Event): void => {
    pointed = type === 'pointerover' ? idOf(target) : undefined;
    highlight();
  };
  const focus = ({ target, type }: Event): void => {
    focused = type === 'focusin' ? idOf(target) : undefined;
    highlight();
  };
  for (const type of ['pointerover', 'pointerleave']) section.addEventListener(type, point, { signal });
  for (const type of ['focusin', 'focusout']) section.addEventListener(type, focus, { signal });
  const unsubscribe = watchSettings.subscribe(({ highlightedIds }, before) => {
    if (highlightedIds !== before.highlightedIds) show();
  });
  return () => {
    unsubscribe();
    listening.abort();
    if (pointed !== undefined || focused !== undefined) highlightRequests();
  };
}

function idOf(target: EventTarget | null): RequestId | undefined {
  const cell = target instanceof Element ? target.closest<HTMLElement>('[data-request-id]') : null;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a brand has no other way in
  return cell?.dataset['requestId'] as RequestId | undefined;
}
