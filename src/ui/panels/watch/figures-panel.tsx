import { formatCount, formatEachMs, formatNumber, NO_VALUE } from '../../parts/format.ts';
import { Term, type TermName } from '../../parts/term.tsx';
import type { Spread } from '../../state/run-summary.ts';
import { latestRun } from '../../state/run.ts';
import { useIsServer, useRecordedView, useServeView } from '../../state/serve-context.ts';
import type { RecordedView } from '../../state/serve-store.ts';
import type { LineStyle } from './chart-head.ts';
import { Mark } from './mark.tsx';
import { figuresOf, isRunning } from './run-figures.ts';

export interface FigureProps {
  readonly name: string;
  /** Explains the name. */
  readonly term: TermName;
  /** Explains its two percentiles. */
  readonly percentiles?: TermName;
  /** It is of steps, which a server doesn't report. */
  readonly needsEngine?: boolean;
  /** The line's style in the charts. */
  readonly mark: Pick<LineStyle, 'color' | 'mark'>;
  /** Returns the text, so that the figure renders again only when it changes. */
  readonly select: (view: RecordedView) => string;
}

const FIGURES: readonly FigureProps[] = [
  {
    name: 'Peak batch',
    needsEngine: true,
    term: 'peak-batch',
    mark: { color: '--series-decode', mark: 'bar' },
    select: (view) => {
      const { peakBatchSize } = figuresOf(view);
      return peakBatchSize === undefined ? NO_VALUE : formatCount(peakBatchSize);
    },
  },
  {
    name: 'Tokens/s',
    term: 'tokens',
    mark: { color: '--series-decode' },
    select: (view) => {
      // A server reports no steps, so nothing says how long a run that goes on has taken.
      const isOpen = view.status.backend?.name === 'server' && isRunning(view);
      const { tokensPerSecond } = isOpen ? (view.figures ?? { tokensPerSecond: 0 }) : figuresOf(view);
      return tokensPerSecond === 0 ? '0' : formatNumber(tokensPerSecond);
    },
  },
  {
    name: 'TTFT',
    term: 'ttft',
    percentiles: 'percentiles',
    mark: { color: '--series-ttft', mark: 'point' },
    select: (view) => formatSpread(figuresOf(view).ttftMs),
  },
  {
    name: 'Inter-token',
    needsEngine: true,
    term: 'inter-token',
    percentiles: 'percentiles',
    mark: { color: '--series-itl' },
    select: (view) => formatSpread(figuresOf(view).itlMs),
  },
];

/** The figures of the latest run. */
export function FiguresPanel() {
  const isServer = useIsServer();
  return (
    <section className="figures-panel named" aria-label="Figures of the run">
      <FiguresTime />
      <dl className="figures">
        {FIGURES.filter(({ needsEngine }) => !(isServer && needsEngine)).map((figure) => (
          <Figure key={figure.name} {...figure} />
        ))}
      </dl>
    </section>
  );
}

/** Says when the figures were measured. */
function FiguresTime() {
  const isNow = useServeView(isRunning);
  const what = useServeView(({ runs }) => latestRun(runs)?.experiment ?? 'run');
  return (
    <p className="figures-time row note" data-live={isNow}>
      {isNow ? 'Now' : `Last ${what}`}
    </p>
  );
}

export function Figure({ name, term, percentiles, mark, select }: FigureProps) {
  const text = useRecordedView(select);
  return (
    <div className="figure">
      <dt className="note">
        <Mark line={mark} /> <Term name={term}>{name}</Term>{' '}
        {percentiles && <Term name={percentiles}>p50 / p95</Term>}
      </dt>
      <dd>{text}</dd>
    </div>
  );
}

export function formatSpread(spread: Pick<Spread, 'p50' | 'p95'> | undefined): string {
  return spread ? formatEachMs([spread.p50, spread.p95]) : NO_VALUE;
}
