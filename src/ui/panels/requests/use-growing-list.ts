import { useEffect, useState } from 'react';

import { frames } from '../../drawing/frame-scheduler.ts';

const NUM_NEW_PER_FRAME = 8;

/** A list that grows at its end by a few items a frame, so that the page stays responsive when many come together. */
export function useGrowingList<Item>(items: readonly Item[]): readonly Item[] {
  const [listed, setListed] = useState(items);
  const shown = withSomeNew(listed, items, NUM_NEW_PER_FRAME);
  useEffect(() => {
    if (listed === items) return undefined;
    const grow = (): void => setListed(shown);
    frames.request(grow);
    return () => frames.cancel(grow);
  }, [listed, items, shown]);
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
