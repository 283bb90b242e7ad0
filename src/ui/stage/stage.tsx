import { Activity, lazy, Suspense, useState } from 'react';

import { PanelBoundary } from '../panel-boundary.tsx';
import { RequestList } from '../requests/request-list.tsx';
import { readPermalink } from '../share/permalink.ts';
import { SlotPanel } from '../slots/slot-panel.tsx';
import { useServeView } from '../state/serve-context.ts';
import { TabList, tabId, tabPanelId } from '../tab-list.tsx';
import { ChartsPanel } from '../watch/charts-panel.tsx';
import { FiguresRow } from '../watch/figures-row.tsx';
import './stage.css';

const LoadPanel = lazy(async () => {
  const module = await import('../load/load-panel.tsx');
  return { default: module.LoadPanel };
});

type StageView = 'watch' | 'load';

const VIEWS: readonly { readonly id: StageView; readonly title: string }[] = [
  { id: 'watch', title: 'Watch' },
  { id: 'load', title: 'Load test' },
];

const WATCH_ALONE = VIEWS.filter(({ id }) => id === 'watch');

/** What the engine does, always in view; below it either all figures and texts, or the load panel. */
export function Stage() {
  const [view, setView] = useState<StageView>(() => (readPermalink(location.hash).load ? 'load' : 'watch'));
  // Loaded with the first look, and kept from then on: a load goes on while its panel is out of sight.
  const [isLoadUsed, setIsLoadUsed] = useState(view === 'load');
  // Its slots are not for us to see, and its policies not for us to compare.
  const isUpstream = useServeView(({ status }) => status.backend?.name === 'upstream');
  const shown = isUpstream ? 'watch' : view;

  const select = (next: StageView): void => {
    setView(next);
    if (next === 'load') setIsLoadUsed(true);
  };

  return (
    <div className="stage">
      <PanelBoundary name="Figures">
        <FiguresRow />
      </PanelBoundary>
      {!isUpstream && (
        <PanelBoundary name="K/V slots">
          <SlotPanel />
        </PanelBoundary>
      )}
      <TabList label="View" tabs={isUpstream ? WATCH_ALONE : VIEWS} selected={shown} onSelect={select} />
      <Activity mode={shown === 'watch' ? 'visible' : 'hidden'}>
        <div className="stage-view" role="tabpanel" id={tabPanelId('watch')} aria-labelledby={tabId('watch')}>
          <PanelBoundary name="Charts">
            <ChartsPanel />
          </PanelBoundary>
          <PanelBoundary name="Requests">
            <RequestList />
          </PanelBoundary>
        </div>
      </Activity>
      {isLoadUsed && (
        <Activity mode={shown === 'load' ? 'visible' : 'hidden'}>
          <div className="stage-view" role="tabpanel" id={tabPanelId('load')} aria-labelledby={tabId('load')}>
            <PanelBoundary name="Load test">
              <Suspense fallback={<p className="stage-loading">Loading the load test…</p>}>
                <LoadPanel />
              </Suspense>
            </PanelBoundary>
          </div>
        </Activity>
      )}
    </div>
  );
}
