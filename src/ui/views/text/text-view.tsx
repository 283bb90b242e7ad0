import { lazy, Suspense, useState } from 'react';

import { TEXT_GENERATOR } from '../../../client/index.ts';
import { AdvancedPanel } from '../../panels/compose/advanced-panel.tsx';
import { useComposer } from '../../state/composer/composer-context.ts';
import { ComposePanel } from '../../panels/compose/compose-panel.tsx';
import { afterPaint } from '../../browser/after-paint.ts';
import { useLoadLab } from '../../panels/load/use-load-lab.tsx';
import { useRecording } from '../../panels/recording/use-recording.ts';
import { PolicyPanel } from '../../panels/policy/policy-panel.tsx';
import { PanelBoundary, Part } from '../../parts/panel-boundary.tsx';
import { RunPanel } from '../../panels/requests/run-panel.tsx';
import { readPermalink } from '../../state/permalink.ts';
import { SlotPanel } from '../../panels/slots/slot-panel.tsx';
import { ServeContext, useIsServer, useServe } from '../../state/serve-context.ts';
import { TabPanel } from '../../parts/tab-list.tsx';
import { isFirstVisit } from '../../panels/tour/first-visit.ts';
import '../../panels/tour/tour.css';
import { FiguresRow } from '../../panels/watch/figures-row.tsx';
import { MainCharts } from '../../panels/watch/main-charts.tsx';
import { MoreCharts } from '../../panels/watch/more-charts.tsx';
import { Button } from '../../parts/button.tsx';

const CodeDialog = lazy(async () => ({ default: (await import('./code-dialog.tsx')).CodeDialog }));
/** The prompt comes first. */
const Tour = lazy(async () => {
  await afterPaint();
  return { default: (await import('../../panels/tour/tour.tsx')).Tour };
});

/** As high as a hint, so that nothing moves when the first one comes. */
const TOUR_PLACE = (
  <div className="tour tour-place stack">
    <p />
    <div className="tour-actions button-quiet" />
  </div>
);

/** The prompt at the left, how it runs at the right. */
export function TextView() {
  const isServer = useIsServer();
  const context = useServe();
  const recording = useRecording();
  const composer = useComposer();
  const lab = useLoadLab(TEXT_GENERATOR, readPermalink(location.hash).load !== undefined);
  const [hasTour] = useState(isFirstVisit);
  const [isCodeOpen, setIsCodeOpen] = useState(false);
  return (
    <TabPanel id={TEXT_GENERATOR} className="workspace generator-view">
      <div className="rail stack loose top">
        <Part name="Prompt" content={<ComposePanel />} />
        <Part name="Batching policy" content={<PolicyPanel />} />
        <div className="rail-more stack loose">
          <Part name="Advanced" content={<AdvancedPanel form={composer} />} />
          <div className="row">
            {!isServer && lab.button}
            <Button onClick={() => setIsCodeOpen(true)}>Use it from code</Button>
          </div>
        </div>
        <Suspense fallback={TOUR_PLACE}>{hasTour && <Tour />}</Suspense>
      </div>
      <div className="stage stack loose top">
        <Part name="Figures" content={<FiguresRow isRecording={recording !== undefined} />} />
        <ServeContext value={recording ? { ...context, store: recording.store } : context}>
          <Part name="Charts" content={<MainCharts isRecording={recording !== undefined} />} />
          {!isServer && (
            <Part name="K/V slots" content={<SlotPanel isRecording={recording !== undefined} />} />
          )}
        </ServeContext>
        <Part
          name="Texts"
          content={<RunPanel recorded={recording && <recording.Texts recording={recording} />} />}
        />
        <Part name="More charts" content={<MoreCharts />} />
      </div>
      {!isServer && lab.drawer}
      {isCodeOpen && (
        <PanelBoundary name="Use it from code">
          <CodeDialog onClose={() => setIsCodeOpen(false)} />
        </PanelBoundary>
      )}
    </TabPanel>
  );
}
