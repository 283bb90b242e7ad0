import { useEffect, useMemo, useState } from 'react';

import type { RequestId } from '../../../client/index.ts';
import { Button } from '../../parts/button.tsx';
import type { Measured } from '../compare/compared-prompts.ts';
import { SecondTabButton } from '../tour/second-tab-button.tsx';
import { isActive } from '../../state/request-view.ts';
import { latestRun, type Run } from '../../state/run.ts';
import { stepsBetween, summarizeRun } from '../../state/run-summary.ts';
import { timesOneAtATime } from '../../state/one-at-a-time.ts';
import { useIsUpstream, useServe, useServeView } from '../../state/serve-context.ts';
import {
  clearFinished,
  recordedView,
  showPrompts,
  type RecordedView,
  type ServeView,
} from '../../state/serve-store.ts';
import { describeOver, describeRunning } from './run-text.ts';

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

/** Follows the store outside a selector, because the text depends on the clock. */
function useRunText(measured: Measured | undefined): string {
  const { store } = useServe();
  const describe = useMemo(() => createRunDescriber(measured), [measured]);
  const [text, setText] = useState('');
  useEffect(() => {
    const update = (): void => setText(describe(recordedView(store)));
    update();
    return store.subscribe(update);
  }, [store, describe]);
  return text;
}

/** Summarizes a run that is over only where something about it has changed. */
function createRunDescriber(measured: Measured | undefined) {
  let known: { run: Run; revision: number; text: string } | undefined;
  return (view: RecordedView): string => {
    const run = view.runs.prompts;
    if (!run) return '';
    const { steps } = view.history.slots;
    const ofRun = stepsBetween(steps, run.startedAtMs, run.endedAtMs ?? Infinity);
    if (run.endedAtMs === undefined)
      return describeRunning({ ...countRun(run, view), timesFaster: timesOneAtATime(view.status, ofRun) });
    if (known?.run !== run || known.revision !== view.historyRevision) {
      const text = describeOver(summarizeRun(run, view), timesOneAtATime(view.status, ofRun), measured);
      known = { run, revision: view.historyRevision, text };
    }
    return known.text;
  };
}

function countRun({ requestIds, foreignIds = new Set(), startedAtMs }: Run, { requests }: ServeView) {
  const rows = requestIds.flatMap((id) => requests.get(id) ?? []);
  return {
    numRequests: requestIds.length,
    numForeign: foreignIds.size,
    numRunning: rows.filter(({ status }) => status === 'running').length,
    numWaiting: rows.filter(({ status }) => status === 'waiting').length,
    elapsedMs: performance.now() - startedAtMs,
  };
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
