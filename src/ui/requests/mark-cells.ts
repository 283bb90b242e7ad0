import type { RequestId } from '../../client/index.ts';
import { markRequests, watchSettings } from '../watch/watch-settings.ts';

/** Marks the request of the cell under the pointer or with the focus everywhere, and the cells of requests marked elsewhere. */
export function followMarks(section: HTMLElement): () => void {
  let pointed: RequestId | undefined;
  let focused: RequestId | undefined;
  const mark = (): void => {
    const id = pointed ?? focused;
    markRequests(id === undefined ? [] : [id]);
  };
  const show = (): void => {
    const { markedIds } = watchSettings.getState();
    for (const cell of section.querySelectorAll<HTMLElement>('[data-request-id]')) {
      const id = idOf(cell);
      cell.toggleAttribute('data-marked', id !== undefined && markedIds.has(id));
    }
  };
  const listening = new AbortController();
  const { signal } = listening;
  const point = ({ target, type }: Event): void => {
    pointed = type === 'pointerover' ? idOf(target) : undefined;
    mark();
  };
  const focus = ({ target, type }: Event): void => {
    focused = type === 'focusin' ? idOf(target) : undefined;
    mark();
  };
  for (const type of ['pointerover', 'pointerleave']) section.addEventListener(type, point, { signal });
  for (const type of ['focusin', 'focusout']) section.addEventListener(type, focus, { signal });
  const unsubscribe = watchSettings.subscribe(({ markedIds }, before) => {
    if (markedIds !== before.markedIds) show();
  });
  return () => {
    unsubscribe();
    listening.abort();
    if (pointed !== undefined || focused !== undefined) markRequests();
  };
}

function idOf(target: EventTarget | null): RequestId | undefined {
  const cell = target instanceof Element ? target.closest<HTMLElement>('[data-request-id]') : null;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a brand has no other way in
  return cell?.dataset['requestId'] as RequestId | undefined;
}
