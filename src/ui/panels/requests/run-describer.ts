import type { Measured } from '../compare/compared-prompts.ts';
import { timesOneAtATime } from '../../state/one-at-a-time.ts';
import type { Run } from '../../state/run.ts';
import { stepsBetween, summarizeRun } from '../../state/run-summary.ts';
import type { RecordedView, ServeView } from '../../state/serve-store.ts';
import { describeOver, describeRunning } from './run-text.ts';

/** Summarizes a run that is over only where something about it has changed. */
export function createRunDescriber(measured: Measured | undefined) {
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
