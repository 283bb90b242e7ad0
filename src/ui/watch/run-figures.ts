import type { LatencySummary } from '../../client/index.ts';
import { summarizeRun, type Spread } from '../state/run-summary.ts';
import { latestRun, type Run } from '../state/run.ts';
import type { RecordedView } from '../state/serve-store.ts';
import type { TracedStep } from '../state/slot-history.ts';

/** Durations in ms; undefined where nothing was measured. */
interface RunFigures {
  readonly peakBatchSize?: number | undefined;
  readonly tokensPerSecond?: number | undefined;
  readonly ttftMs?: Spread | undefined;
  readonly itlMs?: Spread | undefined;
}

type FiguresInput = Pick<
  RecordedView,
  'runs' | 'history' | 'historyRevision' | 'figures' | 'requests' | 'status'
>;

let known: { readonly input: FiguresInput; readonly run: Run; readonly figures: RunFigures } | undefined;

export function isRunning({ runs }: Pick<RecordedView, 'runs'>): boolean {
  const run = latestRun(runs);
  return run !== undefined && run.endedAtMs === undefined;
}

/** The figures of the latest run. Computed once for each stats message, because all figures on the page use them. */
export function figuresOf(view: FiguresInput): RunFigures {
  const run = latestRun(view.runs);
  if (!run) return {};
  const isKnown =
    known?.run === run &&
    known.input.history === view.history &&
    known.input.historyRevision === view.historyRevision &&
    known.input.figures === view.figures;
  if (known && isKnown) return known.figures;
  const figures =
    run.endedAtMs === undefined ? liveFigures(run, view) : summarizeRun(run, view, run.endedAtMs);
  known = { input: view, run, figures };
  return figures;
}

/** The worker's figures, and the peak so far. */
function liveFigures(run: Run, { history, figures }: FiguresInput): RunFigures {
  return {
    peakBatchSize: peakSince(history.slots.steps, run.startedAtMs),
    tokensPerSecond: figures?.tokensPerSecond,
    ttftMs: figures && toSpread(figures.ttftMs),
    itlMs: figures && toSpread(figures.itlMs),
  };
}

function peakSince(steps: readonly TracedStep[], startMs: number): number | undefined {
  let peak: number | undefined;
  for (let index = steps.length - 1; index >= 0; index -= 1) {
    const step = steps[index];
    if (!step || step.endedAtMs < startMs) break;
    peak = Math.max(peak ?? 0, step.batchSize);
  }
  return peak;
}

function toSpread({ count, p50, p95 }: LatencySummary): Spread | undefined {
  return count > 0 ? { p50, p95 } : undefined;
}
