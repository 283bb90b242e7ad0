import type { Measured } from '../compare/compared-prompts.ts';
import { timesOneAtATime } from '../../state/one-at-a-time.ts';
import { isOver, type Run } from '../../state/run.ts';
import { stepsBetween, summarizeRun } from '../../state/run-summary.ts';
import type { Sender } from '../../state/sender.ts';
import type { RecordedView, ServeView } from '../../state/serve-store.ts';
import { describeOver, describeRunning } from './run-text.ts';

/** Summarizes a run that is over only where something about it has changed. */
export function createRunDescriber(measured: Measured | undefined) {
  let known: { run: Run; revision: number; tabs: unknown; text: string } | undefined;
  return (view: RecordedView): string => {
    const run = view.runs.prompts;
    if (!run) return '';
    const { steps } = view.history.slots;
    const ofRun = stepsBetween(steps, run.startedAtMs, run.endedAtMs ?? Infinity);
    // Once all have ended, the run may still wait for the report of its last step.
    if (!isOver(run, view))
      return describeRunning({ ...countRun(run, view), timesFaster: timesOneAtATime(view.status, ofRun) });
    const { tabs } = view.status;
    if (known?.run !== run || known.revision !== view.historyRevision || known.tabs !== tabs) {
      const summary = {
        ...summarizeRun(run, view),
        numBySender: countBySender(run),
        tabs,
        isPart: run.isPart,
      };
      const text = describeOver(summary, timesOneAtATime(view.status, ofRun), measured);
      known = { run, revision: view.historyRevision, tabs, text };
    }
    return known.text;
  };
}

function countRun(run: Run, { requests, status: { tabs, state, isEjected, load } }: ServeView) {
  const { requestIds, startedAtMs } = run;
  const rows = requestIds.flatMap((id) => requests.get(id) ?? []);
  return {
    numRequests: requestIds.length,
    numBySender: countBySender(run),
    tabs,
    numRunning: rows.filter(({ status }) => status === 'running').length,
    numWaiting: rows.filter(({ status }) => status === 'waiting').length,
    elapsedMs: performance.now() - startedAtMs,
    // A load beside a model that serves holds requests up at its end alone.
    isLoading: state !== 'ready' || isEjected === true || load?.phase === 'drain',
  };
}

export function countBySender({ senders = new Map() }: Run): ReadonlyMap<Sender, number> {
  const counts = new Map<Sender, number>();
  for (const sender of senders.values()) counts.set(sender, (counts.get(sender) ?? 0) + 1);
  return counts;
}
