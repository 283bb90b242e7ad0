import { CheckField, InputField } from '../../parts/field.tsx';
import { Panel } from '../../parts/panel.tsx';
import { ErrorLine } from '../../parts/error-line.tsx';
import { ScrollBox } from '../../parts/scroll-box.tsx';
import { RERANKER } from '../../../client/index.ts';
import { shortName } from '../../panels/header/chip-text.ts';
import type { Embedded, Hit } from './embed-room.ts';
import { describeSearchCut } from './describe-embedding.ts';
import { useEmbedRoom, useEmbedView, useEncoder } from './embed-context.ts';

/** The lines nearest to what is typed. */
export function SearchPanel({
  embedded,
  isStale,
}: {
  readonly embedded: Embedded;
  readonly isStale: boolean;
}) {
  const room = useEmbedRoom();
  const query = useEmbedView((view) => view.query);
  const hits = useEmbedView((view) => view.hits);
  const isQueryCut = useEmbedView((view) => view.isQueryCut);
  const error = useEmbedView((view) => view.searchError);
  const reranks = useEmbedView((view) => view.reranks);
  const reranker = useEncoder(RERANKER);
  const [best] = hits;
  const cut = describeSearchCut({ hits, isQueryCut }, embedded.maxTokens, reranker?.maxTokens ?? 0);
  const nearest = best && embedded.lines[best.index];
  return (
    <Panel title="Search" className="embed-search">
      <InputField
        label="Find lines that mean this"
        hint={
          isStale
            ? `These vectors are of ${shortName(embedded.modelId)}. Embed the lines again to search them.`
            : 'The nearest lines come first, as you type.'
        }
        value={query}
        disabled={isStale}
        onChange={(event) => void room.search(event.target.value)}
      />
      {reranker && (
        <CheckField
          label="Rerank the first 20"
          hint={`${shortName(reranker.id)} reads the query and each line together.`}
          checked={reranks}
          onChange={(event) => void room.setReranks(event.target.checked)}
        />
      )}
      <div role="alert">{error && <ErrorLine error={error} />}</div>
      <output className="note">{cut}</output>
      <output className="visually-hidden">{nearest === undefined ? '' : `Nearest: ${nearest}`}</output>
      <ScrollBox label="Hits" className="embed-hits">
        <ol aria-label="Nearest lines">
          {hits.map((hit) => (
            <HitRow key={hit.index} hit={hit} line={embedded.lines[hit.index] ?? ''} />
          ))}
        </ol>
        {hits.length === 0 && <p className="empty-note">Each hit appears here with its score.</p>}
      </ScrollBox>
    </Panel>
  );
}

function HitRow({ hit: { score, rerankScore, isCut }, line }: { readonly hit: Hit; readonly line: string }) {
  return (
    <li className="embed-hit">
      <span className="grow">{line}</span>
      <span className="strong" title="Cosine of the two vectors, from -1 to 1">
        {score.toFixed(3)}
      </span>
      {rerankScore !== undefined && (
        <span className="strong muted" title="The reranker's score, from 0 to 1">
          rank {rerankScore.toFixed(3)}
          {isCut && ', cut'}
        </span>
      )}
    </li>
  );
}
