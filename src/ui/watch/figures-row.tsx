import { formatCount, formatEachMs, formatNumber, NO_VALUE } from '../format.ts';
import { useServeView } from '../state/serve-context.ts';
import type { ServeView } from '../state/serve-store.ts';
import './figures-row.css';

interface FigureProps {
  readonly name: string;
  readonly title: string;
  /** Returns the text that is drawn: the figure renders again only when that changes. */
  readonly select: (view: ServeView) => string;
}

export function FiguresRow() {
  return (
    <section className="figures-panel" aria-label="Live figures">
      <dl className="figures">
        <Figure name="Running" title="Sequences in the batch" select={selectRunning} />
        <Figure name="Waiting" title="Requests in the queue" select={selectWaiting} />
        <Figure name="Last batch" title="Sequences in the last step" select={selectLastBatchSize} />
        <Figure
          name="Tokens/s"
          title="Output tokens per second, all sequences together"
          select={selectTokensPerSecond}
        />
        <Figure name="TTFT p50 / p95" title="Time to first token, queue wait included" select={selectTtft} />
        <Figure name="ITL p50 / p95" title="Inter-token latency" select={selectItl} />
      </dl>
    </section>
  );
}

function Figure({ name, title, select }: FigureProps) {
  const text = useServeView(select);
  return (
    <div className="figure">
      <dt title={title}>{name}</dt>
      <dd>{text}</dd>
    </div>
  );
}

function selectRunning({ figures }: ServeView): string {
  return formatCount(figures?.numRunning ?? 0);
}

function selectWaiting({ figures }: ServeView): string {
  return formatCount(figures?.numWaiting ?? 0);
}

function selectLastBatchSize({ figures }: ServeView): string {
  return figures && figures.lastBatchSize > 0 ? formatCount(figures.lastBatchSize) : NO_VALUE;
}

function selectTokensPerSecond({ figures }: ServeView): string {
  return figures?.tokensPerSecond === 0 ? '0' : formatNumber(figures?.tokensPerSecond);
}

function selectTtft({ figures }: ServeView): string {
  return formatPercentiles(figures?.ttftMs);
}

function selectItl({ figures }: ServeView): string {
  return formatPercentiles(figures?.itlMs);
}

function formatPercentiles(summary: { count: number; p50: number; p95: number } | undefined): string {
  if (!summary || summary.count === 0) return NO_VALUE;
  return formatEachMs([summary.p50, summary.p95]);
}
