import { EMBEDDER } from '../../../client/index.ts';
import { formatNumber, formatShare, NO_VALUE } from '../../parts/format.ts';
import { useRecordedView } from '../../state/serve-context.ts';
import type { RecordedView } from '../../state/serve-store.ts';
import { encoderRunOf, summarizeEncoderRun } from '../../panels/watch/encoder-run.ts';
import { Figure, formatSpread, type FigureProps } from '../../panels/watch/figures-panel.tsx';

import { describePlaces } from './describe-embedding.ts';
import { useEncoder } from './embed-context.ts';

type Summary = NonNullable<ReturnType<typeof summarizeEncoderRun>>;

const FIGURES: readonly FigureProps[] = [
  {
    name: 'Texts/s',
    term: 'texts',
    mark: { color: '--series-e2e' },
    select: ofRun(({ textsPerSecond }) => formatNumber(textsPerSecond)),
  },
  {
    name: 'Tokens/s',
    term: 'useful-tokens',
    mark: { color: '--series-decode', mark: 'bar' },
    select: ofRun(({ tokensPerSecond }) => formatNumber(tokensPerSecond)),
  },
  {
    name: 'Padding',
    term: 'padding',
    mark: { color: '--series-prefill', mark: 'bar' },
    select: ofRun(({ paddingShare }) => formatShare(paddingShare)),
  },
  {
    name: 'Batch',
    percentiles: 'batch-percentiles',
    term: 'batch-time',
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
      <Places />
    </section>
  );
}

/** Its place is reserved, so that nothing below moves. */
function Places() {
  const encoder = useEncoder(EMBEDDER);
  const text = useRecordedView((view) =>
    describePlaces(summarizeEncoderRun(encoderRunOf(view, EMBEDDER)), encoder),
  );
  return <p className="embed-places spaced note">{text}</p>;
}

function ofRun(format: (summary: Summary) => string): (view: RecordedView) => string {
  return (view) => {
    const summary = summarizeEncoderRun(encoderRunOf(view, EMBEDDER));
    return summary ? format(summary) : NO_VALUE;
  };
}
