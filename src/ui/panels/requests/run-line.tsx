import { lazy, Suspense, useEffect, useState } from 'react';

import { afterPaint } from '../../browser/after-paint.ts';
import type { Measured } from '../compare/compared-prompts.ts';
import { useServe, useServeView } from '../../state/serve-context.ts';
import { recordedView } from '../../state/serve-store.ts';
import type { RunActionsProps } from './run-actions.tsx';

const RunActions = lazy(async () => ({ default: (await import('./run-actions.tsx')).RunActions }));

/** One line about the run, with its actions. */
export function RunLine({ numCells, ...actions }: RunActionsProps & { readonly numCells: number }) {
  const text = useRunText(actions.measured);
  const isOver = useServeView(({ runs }) => runs.prompts?.endedAtMs !== undefined);
  const hasRequests = useServeView(({ requests }) => requests.size > 0);
  return (
    <div className="run-line">
      <p className="run-text">
        {numCells > 0 ? text : 'Nine texts will stream here side by side. Press Run, or send a prompt.'}
      </p>
      <output className="visually-hidden">
        {isOver && numCells > 0 ? `All requests are over: ${numCells}.` : ''}
      </output>
      <Suspense>{hasRequests && <RunActions {...actions} />}</Suspense>
    </div>
  );
}

/** Follows the store outside a selector, because the text depends on the clock. Before a run there is none, so it is loaded after the page. */
function useRunText(measured: Measured | undefined): string {
  const { store } = useServe();
  const [text, setText] = useState('');
  useEffect(() => {
    let unsubscribe: (() => void) | undefined;
    let isGone = false;
    const follow = async (): Promise<void> => {
      await afterPaint();
      // The actions, too: by the first request the page may be offline.
      const [{ createRunDescriber }] = await Promise.all([
        import('./run-describer.ts'),
        import('./run-actions.tsx'),
      ]);
      if (isGone) return;
      const describe = createRunDescriber(measured);
      const update = (): void => setText(describe(recordedView(store)));
      update();
      unsubscribe = store.subscribe(update);
    };
    // The texts say most of it.
    follow().catch(() => undefined);
    return () => {
      isGone = true;
      unsubscribe?.();
    };
  }, [store, measured]);
  return text;
}
