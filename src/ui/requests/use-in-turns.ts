import { useEffect, useState } from 'react';

import { onDrawFrame } from '../state/draw-clock.ts';

const NUM_NEW_PER_FRAME = 8;

/** A list that grows at its end by a few items a frame, so that the page stays responsive when many come together. */
export function useInTurns<Item>(items: readonly Item[]): readonly Item[] {
  const [listed, setListed] = useState(items);
  const shown = withSomeNew(listed, items, NUM_NEW_PER_FRAME);
  // More items follow in the next frame of the drawing clock.
  useEffect(
    () => (listed === items ? undefined : onDrawFrame(() => setListed(shown))),
    [listed, items, shown],
  );
  return shown;
}

/** `items` up to the first `numNew` that are not listed yet. Removed items go at once. */
export function withSomeNew<Item>(
  listed: readonly Item[],
  items: readonly Item[],
  numNew: number,
): readonly Item[] {
  const known = new Set(listed);
  const firstNew = items.findIndex((item) => !known.has(item));
  const end = firstNew + numNew;
  return firstNew === -1 || end >= items.length ? items : items.slice(0, end);
}
