import { useEffect, useState } from 'react';

import type { RequestId } from '../../../client/index.ts';
import { afterPaint } from '../../browser/after-paint.ts';
import { Button } from '../../parts/button.tsx';
import type { Measured } from '../compare/compared-prompts.ts';
import { SecondTabButton } from '../tour/second-tab-button.tsx';
import { isActive } from '../../state/request-view.ts';
import { latestRun } from '../../state/run.ts';
import { useIsUpstream, useServe, useServeView } from '../../state/serve-context.ts';
import { clearFinished, recordedView, showPrompts, type ServeView } from '../../state/serve-store.ts';

interface RunLineProps {
  readonly numCells: number;
  /** A comparison of this run. */
  readonly measured: Measured | undefined;
  readonly onCompare: () => void;
}

/** One line about the run, with its actions. */
export function RunLine({ numCells, measured, onCompare }: RunLineProps) {
  const { serve, store } = useServe();
  const text = useRunText(measured);
  const isOver = useServeView(({ runs }) => runs.prompts?.endedAtMs !== undefined);
  /** The charts are of a trial, so not of the texts below. */
  const isOfTrial = useServeView(({ runs }) => {
    const run = latestRun(runs);
    return runs.prompts !== undefined && run?.experiment !== undefined && run.endedAtMs !== undefined;
  });
  const hasOver = useServeView(({ requests }) =>
    [...requests.values()].some(({ status }) => !isActive(status)),
  );
  const hasOwnActive = useServeView((view) => activeOwnIds(view).length > 0);
  const numTexts = useServeView(countOwnTexts);
  const isUpstream = useIsUpstream();
  const numTabs = useServeView(({ status }) => status.numTabs);
  return (
    <div className="run-line">
      <p className="run-text">
        {numCells > 0 ? text : 'Nine texts will stream here side by side. Press Run, or send a prompt.'}
      </p>
      <output className="visually-hidden">
        {isOver && numCells > 0 ? `All requests are over: ${numCells}.` : ''}
      </output>
      {hasOwnActive && (
        <Button
          variant="small"
          onClick={() => {
            for (const id of activeOwnIds(store.getState())) serve.cancel(id);
          }}
        >
          Stop all
        </Button>
      )}
      {isOfTrial && (
        <Button variant="small" onClick={() => showPrompts(store)}>
          Charts of these texts
        </Button>
      )}
      {measured && numTabs === 1 && <SecondTabButton />}
      {isOver && numTexts > 1 && !isUpstream && (
        <Button variant="small" onClick={onCompare}>
          Compare
        </Button>
      )}
      {hasOver && (
        <Button variant="quiet" onClick={() => clearFinished(store)}>
          Clear finished
        </Button>
      )}
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
      const { createRunDescriber } = await import('./run-describer.ts');
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

function ownIds({ requests, runs }: ServeView): readonly RequestId[] {
  const ids = runs.prompts?.requestIds ?? [];
  return ids.filter((id) => requests.has(id) && requests.get(id)?.clientId === undefined);
}

function countOwnTexts(view: ServeView): number {
  return ownIds(view).filter((id) => view.requests.get(id)?.numOutputTokens !== 0).length;
}

function activeOwnIds(view: ServeView): readonly RequestId[] {
  return ownIds(view).filter((id) => isActive(view.requests.get(id)?.status ?? 'finished'));
}
