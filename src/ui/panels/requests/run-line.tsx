import { lazy, Suspense, useEffect, useState } from 'react';

import type { RequestId } from '../../../client/index.ts';
import { afterPaint } from '../../browser/after-paint.ts';
import type { Measured } from '../compare/compared-prompts.ts';
import { firstOwnId } from '../../state/run.ts';
import { useServe, useServeView } from '../../state/serve-context.ts';
import { recordedView } from '../../state/serve-store.ts';
import type { RunActionsProps } from './run-actions.tsx';

const RunActions = lazy(async () => ({ default: (await import('./run-actions.tsx')).RunActions }));

interface RunLineProps extends Omit<RunActionsProps, 'measured' | 'onMeasured' | 'ownId'> {
  readonly numCells: number;
}

/** One line about the run, with its actions and its comparison. */
export function RunLine({ numCells, ...actions }: RunLineProps) {
  const ownId = useServeView(({ runs }) => firstOwnId(runs.own));
  /** What a comparison of this tab's run with this first request has measured. */
  const [compared, setCompared] = useState<readonly [ownId: RequestId | undefined, Measured]>();
  const measured = compared?.[0] === ownId ? compared?.[1] : undefined;
  const text = useRunText(measured);
  const hasRun = useServeView(({ runs }) => runs.prompts !== undefined);
  const isOver = useServeView(({ runs }) => runs.prompts?.endedAtMs !== undefined);
  return (
    <div className="run-line cluster">
      <p className="run-text">
        {numCells > 0 ? text : 'Nine texts will stream here side by side. Press Run, or send a prompt.'}
      </p>
      <output className="visually-hidden">
        {isOver && numCells > 0 ? `All requests are over: ${numCells}.` : ''}
      </output>
      <Suspense>
        {hasRun && (
          <RunActions
            {...actions}
            ownId={ownId}
            measured={measured}
            onMeasured={(next) => setCompared([ownId, next])}
          />
        )}
      </Suspense>
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
