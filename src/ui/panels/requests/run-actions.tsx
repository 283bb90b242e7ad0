import { lazy, Suspense, useEffect, useState } from 'react';

import type { RequestId } from '../../../client/index.ts';
import { Button } from '../../parts/button.tsx';
import { PanelBoundary } from '../../parts/panel-boundary.tsx';
import type { Measured } from '../compare/compared-prompts.ts';
import { SecondTabButton } from '../tour/second-tab-button.tsx';
import { isActive } from '../../state/request-view.ts';
import { latestRun, type Run } from '../../state/run.ts';
import { useIsServer, useServe, useServeView } from '../../state/serve-context.ts';
import { clearFinished, showPrompts, type ServeView } from '../../state/serve-store.ts';

const ComparePanel = lazy(async () => ({
  default: (await import('../compare/compare-panel.tsx')).ComparePanel,
}));

export interface RunActionsProps {
  /** A comparison of this tab's run. */
  readonly measured: Measured | undefined;
  readonly onMeasured: (measured: Measured) => void;
  /** Names this tab's run: its first request. */
  readonly ownId: RequestId | undefined;
  /** Whether the cells are as high as their texts. */
  readonly isWhole: boolean;
  readonly onWhole: (isWhole: boolean) => void;
}

interface Comparison {
  /** Counts the comparisons, each of which has a panel of its own. */
  readonly index: number;
  readonly ownId: RequestId | undefined;
  readonly isOfModels: boolean;
  readonly abort: AbortController;
}

/** What can be done with the runs and their texts, and the comparison of this tab's run. */
export function RunActions({ ownId, measured, onMeasured, isWhole, onWhole }: RunActionsProps) {
  const { serve, store } = useServe();
  const { comparison, compare, close } = useComparison(ownId);
  const isOwnOver = useServeView(({ runs }) => runs.own?.endedAtMs !== undefined);
  /** The charts are of a trial, so not of the texts below. */
  const isOfTrial = useServeView(({ runs }) => {
    const run = latestRun(runs);
    return runs.prompts !== undefined && run?.experiment !== undefined && run.endedAtMs !== undefined;
  });
  const hasOver = useServeView(({ requests }) =>
    [...requests.values()].some(({ status }) => !isActive(status)),
  );
  const hasOwnActive = useServeView((view) => activeOwnIds(view).length > 0);
  const numOwn = useServeView((view) => countOwnTexts(view, view.runs.own));
  const numShown = useServeView((view) => countOwnTexts(view, view.runs.prompts));
  const isServer = useIsServer();
  const numTabs = useServeView(({ status }) => status.numTabs);
  return (
    <>
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
      {measured && numTabs === 1 && !isServer && <SecondTabButton />}
      {isOwnOver && numOwn > 1 && !isServer && (
        <Button variant="small" onClick={() => compare(false)}>
          Compare
        </Button>
      )}
      {isOwnOver && numOwn > 0 && !isServer && (
        <Button variant="small" onClick={() => compare(true)}>
          Two models
        </Button>
      )}
      {isOwnOver && numShown > 1 && (
        <Button variant="quiet" aria-pressed={isWhole} onClick={() => onWhole(!isWhole)}>
          Whole texts
        </Button>
      )}
      {hasOver && (
        <Button variant="quiet" onClick={() => clearFinished(store)}>
          Clear finished
        </Button>
      )}
      {comparison && (
        <PanelBoundary name="Comparison">
          <Suspense fallback={<div className="compare" />}>
            <ComparePanel
              key={comparison.index}
              isOfModels={comparison.isOfModels}
              abort={comparison.abort}
              onMeasured={onMeasured}
              onSwitch={() => compare(!comparison.isOfModels)}
              onClose={close}
            />
          </Suspense>
        </PanelBoundary>
      )}
    </>
  );
}

/** Another comparison ends it, and so does another run of this tab. */
function useComparison(ownId: RequestId | undefined) {
  const [latest, setLatest] = useState<Comparison>();
  const comparison = latest?.ownId === ownId ? latest : undefined;
  const abort = (): void => latest?.abort.abort();
  useEffect(() => {
    if (!comparison) latest?.abort.abort();
  }, [comparison, latest]);
  const compare = (isOfModels: boolean): void => {
    abort();
    setLatest({ index: (latest?.index ?? 0) + 1, ownId, isOfModels, abort: new AbortController() });
  };
  const close = (): void => {
    abort();
    setLatest(undefined);
  };
  return { comparison, compare, close };
}

function ownIds({ requests }: ServeView, run: Run | undefined): readonly RequestId[] {
  const ids = run?.requestIds ?? [];
  return ids.filter((id) => requests.has(id) && requests.get(id)?.sender === undefined);
}

function countOwnTexts(view: ServeView, run: Run | undefined): number {
  return ownIds(view, run).filter((id) => view.requests.get(id)?.numOutputTokens !== 0).length;
}

function activeOwnIds(view: ServeView): readonly RequestId[] {
  return ownIds(view, view.runs.own).filter((id) => isActive(view.requests.get(id)?.status ?? 'finished'));
}
