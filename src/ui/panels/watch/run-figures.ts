import { summarizeRun, type RunSummary } from '../../state/run-summary.ts';
import { latestRun, type Run } from '../../state/run.ts';
import type { RecordedView } from '../../state/serve-store.ts';

type FiguresInput = Pick<RecordedView, 'runs' | 'history' | 'historyRevision' | 'requests' | 'status'>;

let known: { readonly input: FiguresInput; readonly run: Run; readonly figures: RunSummary } | undefined;

export function isRunning({ runs }: Pick<RecordedView, 'runs'>): boolean {
  const run = latestRun(runs);
  return run !== undefined && run.endedAtMs === undefined;
}

/** The figures of the latest run so far. Computed once for each stats message, because all figures on the page use them. */
export function figuresOf(view: FiguresInput): Partial<RunSummary> {
  const run = latestRun(view.runs);
  if (!run) return {};
  const isKnown =
    known?.run === run &&
    known.input.history === view.history &&
    known.input.historyRevision === view.historyRevision;
  if (known && isKnown) return known.figures;
  const figures = summarizeRun(run, view);
  known = { input: view, run, figures };
  return figures;
}
