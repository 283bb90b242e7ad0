import { useEffect, useState } from 'react';
import { EMBEDDER, RERANKER, type WireError } from '../../../client/index.ts';
import { KnobsPanel } from '../../panels/policy/knobs-panel.tsx';
import { useLoadLab } from '../../panels/load/use-load-lab.tsx';
import { OfferedModels } from '../../panels/models/offered-models.tsx';
import { Disclosure } from '../../parts/disclosure.tsx';
import { ErrorLine } from '../../parts/error-line.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Part } from '../../parts/panel-boundary.tsx';
import { TabPanel } from '../../parts/tab-list.tsx';
import { toWireError } from '../../parts/to-wire-error.ts';
import { useServe, useServeView } from '../../state/serve-context.ts';
import '../../panels/watch/charts.css';
import { BATCH_LATENCY_HEAD, BATCH_TOKENS_HEAD } from '../../panels/watch/encoder-chart-heads.ts';
import { LiveChart } from '../../panels/watch/live-chart.tsx';
import { EmbedContext, useEmbedView, useEncoder } from './embed-context.ts';
import { EmbedFigures } from './embed-figures.tsx';
import { EmbedRoom, type Embedded } from './embed-room.ts';
import './embed-view.css';
import { LinesPanel } from './lines-panel.tsx';
import { SAMPLE_LINES } from './sample-lines.ts';
import { SearchPanel } from './search-panel.tsx';
import { useStore } from 'zustand';
import { ComparisonFrame } from '../../panels/trials/comparison-frame.tsx';
import { Multiples } from '../../panels/trials/policy-multiples.tsx';
import { describeComparison, describeGain, figuresOfTrial } from './comparison-texts.ts';
import { compareWays } from './embed-comparison.ts';
import { WAYS } from '../../panels/trials/ways.ts';

/** The lines at the left; how they were batched and a search over them at the right. */
export function EmbedView() {
  const { serve } = useServe();
  const [room] = useState(() => new EmbedRoom(serve));
  const [compared, setCompared] = useState<Embedded>();
  const encoder = useEncoder(EMBEDDER);
  const before = useModelBefore();
  const lab = useLoadLab(EMBEDDER);
  const compare = (): void => setCompared(room.store.getState().embedded);
  return (
    <EmbedContext value={room}>
      <TabPanel id={EMBEDDER} className={encoder ? 'workspace embed-view' : 'embed-offer'}>
        {encoder ? (
          <>
            <div className="rail stack loose top">
              <Part name="Lines" content={<LinesPanel onCompare={compare} />} />
              <KnobsPanel name={EMBEDDER} />
              <Models />
              <div className="row">{lab.button}</div>
            </div>
            <div className="stage stack loose top">
              <Part name="Figures" content={<EmbedFigures />} />
              <Part name="Charts" content={<Charts />} />
              {compared && (
                <ComparisonPanel
                  key={compared.durationMs}
                  embedded={compared}
                  onClose={() => setCompared(undefined)}
                />
              )}
              <Part name="Search" content={<Found />} />
            </div>
            {lab.drawer}
          </>
        ) : (
          <Offer {...before} />
        )}
      </TabPanel>
    </EmbedContext>
  );
}

interface ModelBefore {
  readonly isLooking: boolean;
  /** Why the embedder has no model. */
  readonly error?: WireError | undefined;
}

/** Asks for the models with which these deployments served before, or that the app names: a worker loads them with the first request. */
function useModelBefore(): ModelBefore {
  const { serve } = useServe();
  const isMissing = useEncoder(EMBEDDER) === undefined;
  const [found, setFound] = useState<ModelBefore>({ isLooking: true });
  useEffect(() => {
    if (!isMissing) return;
    serve.getHandle(RERANKER).remote({ query: '.', documents: ['.'] });
    // Without a model it fails, and the view offers some.
    const asked = serve.getHandle(EMBEDDER).remote('.').result();
    asked.then(
      () => setFound({ isLooking: false }),
      (caught: unknown) => setFound({ isLooking: false, error: toWireError(caught) }),
    );
  }, [serve, isMissing]);
  return found;
}

function Offer({ isLooking, error }: ModelBefore) {
  // The offer shows the last one by itself.
  const shown = useServeView(({ status }) => status.loadFailure?.error.message);
  if (isLooking) return <output className="note">Looking for the model of the last visit…</output>;
  return (
    <OfferedModels isOffered={({ deployment }) => deployment === EMBEDDER}>
      <h2>Search by meaning, in this tab</h2>
      <p>
        An embedding model turns texts into vectors, and texts that mean alike are near each other. Load one
        to search your own lines. It runs beside the model that generates, and no text leaves this browser.
      </p>
      {error && error.code !== 'NO_ENCODER' && error.message !== shown && <ErrorLine error={error} />}
    </OfferedModels>
  );
}

/** Other embedding models, and rerankers. */
function Models() {
  return (
    <Disclosure title="Models" note="embeddings and ranking">
      <OfferedModels isOffered={({ deployment }) => deployment !== undefined}>
        <p className="field-hint">
          One embedding model and one reranker serve at a time. A reranker reads a query and a line together:
          slower and more exact.
        </p>
      </OfferedModels>
    </Disclosure>
  );
}

function Charts() {
  return (
    <div className="charts stack roomy">
      <LiveChart head={BATCH_TOKENS_HEAD} />
      <LiveChart head={BATCH_LATENCY_HEAD} />
    </div>
  );
}

function Found() {
  const embedded = useEmbedView((view) => view.embedded);
  const encoder = useEncoder(EMBEDDER);
  if (!embedded) {
    return (
      <Panel title="Search">
        <p className="muted">
          Embed lines, or the {SAMPLE_LINES.length} sample lines, to search them by meaning.
        </p>
      </Panel>
    );
  }
  return <SearchPanel embedded={embedded} isStale={encoder?.id !== embedded.modelId} />;
}

interface ComparisonPanelProps {
  readonly embedded: Embedded;
  readonly onClose: () => void;
}

/** The lines again one by one, batched, and batched in the order of their lengths. */
function ComparisonPanel({ embedded, onClose }: ComparisonPanelProps) {
  const { serve } = useServe();
  const [abort] = useState(() => new AbortController());
  const [comparison] = useState(() => compareWays(serve, embedded, abort.signal));
  const view = useStore(comparison.store);
  const { isRunning, trials, error } = view;
  useEffect(() => {
    void comparison.start();
  }, [comparison]);
  const close = (): void => {
    abort.abort();
    onClose();
  };
  return (
    <ComparisonFrame
      title={describeGain(trials)}
      onStop={isRunning ? () => abort.abort() : undefined}
      onClose={close}
      error={error}
      note={describeComparison(view)}
    >
      <Multiples
        trials={WAYS.map((label, index) => ({ label, figures: figuresOfTrial(trials[index], trials) }))}
      />
    </ComparisonFrame>
  );
}
