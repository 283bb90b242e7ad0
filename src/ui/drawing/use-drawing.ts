import { useEffect, useState } from 'react';

import { afterPaint } from '../browser/after-paint.ts';

interface Drawing {
  readonly release: () => void;
}

/**
 * Mounts a drawing once the page is painted: its code isn't loaded before. The elements keep its place, so that nothing moves. A
 * failure is thrown to the boundary around the component.
 *
 * @param load Constant while the drawing is the same. What it resolves with creates the drawing, where its elements are mounted.
 */
export function useDrawing(load: () => Promise<() => Drawing | undefined>): void {
  const [failure, setFailure] = useState<Error>();
  useEffect(() => {
    let drawing: Drawing | undefined;
    let isGone = false;
    const mount = async (): Promise<void> => {
      await afterPaint();
      const create = await load();
      if (!isGone) drawing = create();
    };
    mount().catch((caught: unknown) =>
      setFailure(caught instanceof Error ? caught : new Error(String(caught))),
    );
    return () => {
      isGone = true;
      drawing?.release();
    };
  }, [load]);
  if (failure) throw failure;
}
