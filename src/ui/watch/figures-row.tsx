import { formatCount, formatEachMs, formatNumber, NO_VALUE } from '../parts/format.ts';
import type { Spread } from '../state/run-summary.ts';
import { latestRun } from '../state/run.ts';
import { useRecordedView, useServeView } from '../state/serve-context.ts';
import type { RecordedView } from '../state/serve-store.ts';
import type { LineStyle } from './chart-head.ts';
import './figures-row.css';
import { Mark } from './mark.tsx';
import { figuresOf, isRunning } from './run-figures.ts';

export interface FigureProps {
  readonly name: string;
  readonly detail?: string;
  readonly title: string;
  /** The line's style in the charts. */
  readonly mark: Pick<LineStyle, 'color' | 'mark'>;
  /** Returns the text, so that the figure renders again only when it changes. */
  readonly select: (view: RecordedView) => string;
}

const FIGURES: readonly FigureProps[] = [
  {
    name: 'Peak batch',
    title: 'The most sequences in one step',
    mark: { color: '--series-decode', mark: 'bar' },
    select: (view) => {
      const { peakBatchSize } = figuresOf(view);
      return peakBatchSize === undefined ? NO_VALUE : formatCount(peakBatchSize);
    },
  },
  {
    name: 'Tokens/s',
    title: 'Output tokens per second, all requests together',
    mark: { color: '--series-decode' },
    select: (view) => {
      const { tokensPerSecond } = figuresOf(view);
      return tokensPerSecond === 0 ? '0' : formatNumber(tokensPerSecond);
    },
  },
  {
    name: 'TTFT',
    detail: 'p50 / p95',
    title: 'Time to first token, queue wait included',
    mark: { color: '--series-ttft', mark: 'point' },
    select: (view) => formatSpread(figuresOf(view).ttftMs),
  },
  {
    name: 'Inter-token',
    detail: 'p50 / p95',
    title: 'Time from one token to the next',
    mark: { color: '--series-itl' },
    select: (view) => formatSpread(figuresOf(view).itlMs),
  },
];

export function FiguresRow() {
  return (
    <section className="figures-panel" aria-label="Figures of the run">
      <FiguresTime />
      <dl className="figures">
        {FIGURES.map((figure) => (
          <Figure key={figure.name} {...figure} />
        ))}
      </dl>
    </section>
  );
}

/** Says when the figures were measured. */
function FiguresTime() {
  const isNow = useServeView(isRunning);
  const hasRun = useServeView(({ runs }) => latestRun(runs) !== undefined);
  return (
    <p className="figures-time row note" data-live={isNow}>
      {isNow ? 'Now' : hasRun ? 'Last run' : 'No run yet'}
    </p>
  );
}

export function Figure({ name, detail, title, mark, select }: FigureProps) {
  const text = useRecordedView(select);
  return (
    <div className="figure">
      <dt className="note" title={title}>
        <Mark line={mark} /> {name} {detail}
      </dt>
      <dd>{text}</dd>
    </div>
  );
}

export function formatSpread(spread: Pick<Spread, 'p50' | 'p95'> | undefined): string {
  return spread ? formatEachMs([spread.p50, spread.p95]) : NO_VALUE;
}
