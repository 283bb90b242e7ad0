import { EMBEDDER } from '../../client/index.ts';
import { formatNumber, formatShare, NO_VALUE } from '../parts/format.ts';
import type { RecordedView } from '../state/serve-store.ts';
import { encoderRunOf, summarizeEncoderRun } from '../watch/encoder-run.ts';
import { Figure, formatSpread, type FigureProps } from '../watch/figures-row.tsx';

type Summary = NonNullable<ReturnType<typeof summarizeEncoderRun>>;

const FIGURES: readonly FigureProps[] = [
  {
    name: 'Texts/s',
    title: 'Texts per second, from the first batch to the last',
    mark: { color: '--series-e2e' },
    select: ofRun(({ textsPerSecond }) => formatNumber(textsPerSecond)),
  },
  {
    name: 'Tokens/s',
    title: 'Tokens of the texts per second, without padding',
    mark: { color: '--series-decode', mark: 'bar' },
    select: ofRun(({ tokensPerSecond }) => formatNumber(tokensPerSecond)),
  },
  {
    name: 'Padding',
    title: 'The share of all tokens in the batches that only fill up shorter texts',
    mark: { color: '--series-prefill', mark: 'bar' },
    select: ofRun(({ paddingShare }) => formatShare(paddingShare)),
  },
  {
    name: 'Batch',
    detail: 'p50 / p95',
    title: 'How long a batch takes',
    mark: { color: '--series-itl' },
    select: ofRun(({ executionMs }) => formatSpread(executionMs)),
  },
];

export function EmbedFigures() {
  return (
    <section aria-label="Figures of the last batches">
      <dl className="figures">
        {FIGURES.map((figure) => (
          <Figure key={figure.name} {...figure} />
        ))}
      </dl>
    </section>
  );
}

function ofRun(format: (summary: Summary) => string): (view: RecordedView) => string {
  return (view) => {
    const summary = summarizeEncoderRun(encoderRunOf(view, EMBEDDER));
    return summary ? format(summary) : NO_VALUE;
  };
}
