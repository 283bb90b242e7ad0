import { Activity, lazy, Suspense, useState } from 'react';

import { PanelBoundary } from '../panel-boundary.tsx';
import { RequestList } from '../requests/request-list.tsx';
import { readPermalink } from '../share/permalink.ts';
import { SlotPanel } from '../slots/slot-panel.tsx';
import { useIsUpstream } from '../state/serve-context.ts';
import { TabList, TabPanel } from '../tab-list.tsx';
import { ChartsPanel } from '../watch/charts-panel.tsx';
import { FiguresRow } from '../watch/figures-row.tsx';

const LoadPanel = lazy(async () => ({ default: (await import('../load/load-panel.tsx')).LoadPanel }));

type StageView = 'watch' | 'load';

const VIEWS: readonly { readonly id: StageView; readonly title: string }[] = [
  { id: 'watch', title: 'Watch' },
  { id: 'load', title: 'Load test' },
];

/** Figures and slots, always in view; below them charts and requests, or the load test. */
export function Stage() {
  const [view, setView] = useState<StageView>(() => (readPermalink(location.hash).load ? 'load' : 'watch'));
  // Loaded at the first look and kept: a load test goes on while its panel is hidden.
  const [isLoadUsed, setIsLoadUsed] = useState(view === 'load');
  const isUpstream = useIsUpstream();
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
      <TabList
        label="View"
        tabs={isUpstream ? VIEWS.slice(0, 1) : VIEWS}
        selected={shown}
        onSelect={select}
      />
      <Activity mode={shown === 'watch' ? 'visible' : 'hidden'}>
        <TabPanel id="watch" className="stage-view">
          <PanelBoundary name="Charts">
            <ChartsPanel />
          </PanelBoundary>
          <PanelBoundary name="Requests">
            <RequestList />
          </PanelBoundary>
        </TabPanel>
      </Activity>
      {isLoadUsed && (
        <Activity mode={shown === 'load' ? 'visible' : 'hidden'}>
          <TabPanel id="load" className="stage-view">
            <PanelBoundary name="Load test">
              <Suspense fallback={<p className="stage-loading muted">Loading the load test…</p>}>
                <LoadPanel />
              </Suspense>
            </PanelBoundary>
          </TabPanel>
        </Activity>
      )}
    </div>
  );
}
