import type { LatencySummary } from '../../worker/protocol/stats.ts';
import { formatCount, formatEachMs, formatNumber, NO_VALUE } from '../format.ts';
import { useServeView } from '../state/serve-context.ts';
import type { ServeView } from '../state/serve-store.ts';
import './figures-row.css';

interface FigureProps {
  readonly name: string;
  readonly title: string;
  /** Returns the text, so that the figure renders again only when it changes. */
  readonly select: (view: ServeView) => string;
}

const FIGURES: readonly FigureProps[] = [
  {
    name: 'Running',
    title: 'Sequences in the batch',
    select: ({ figures }) => formatCount(figures?.numRunning ?? 0),
  },
  {
    name: 'Waiting',
    title: 'Requests in the queue',
    select: ({ figures }) => formatCount(figures?.numWaiting ?? 0),
  },
  {
    name: 'Last batch',
    title: 'Sequences in the last step',
    select: ({ figures }) => (figures?.lastBatchSize ? formatCount(figures.lastBatchSize) : NO_VALUE),
  },
  {
    name: 'Tokens/s',
    title: 'Output tokens per second, all sequences together',
    select: ({ figures }) => (figures?.tokensPerSecond === 0 ? '0' : formatNumber(figures?.tokensPerSecond)),
  },
  {
    name: 'TTFT p50 / p95',
    title: 'Time to first token, queue wait included',
    select: ({ figures }) => formatPercentiles(figures?.ttftMs),
  },
  {
    name: 'ITL p50 / p95',
    title: 'Inter-token latency',
    select: ({ figures }) => formatPercentiles(figures?.itlMs),
  },
];

export function FiguresRow() {
  return (
    <section className="panel figures-panel" aria-label="Live figures">
      <dl className="figures">
        {FIGURES.map((figure) => (
          <Figure key={figure.name} {...figure} />
        ))}
      </dl>
    </section>
  );
}

function Figure({ name, title, select }: FigureProps) {
  const text = useServeView(select);
  return (
    <div className="figure">
      <dt className="note" title={title}>
        {name}
      </dt>
      <dd>{text}</dd>
    </div>
  );
}

function formatPercentiles(summary: LatencySummary | undefined): string {
  if (!summary || summary.count === 0) return NO_VALUE;
  return formatEachMs([summary.p50, summary.p95]);
}
