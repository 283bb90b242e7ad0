import { useStore } from 'zustand';

import { Button } from '../button.tsx';
import { Panel } from '../panel.tsx';
import { Select } from '../select.tsx';
import { MAX_WINDOW_SECONDS } from '../state/chart-history.ts';
import { useIsUpstream } from '../state/serve-context.ts';
import { BATCH_SIZE_CHART } from './batch-size-chart.ts';
import { LiveChart } from './live-chart.tsx';
import './charts-panel.css';
import { MomentField } from './moment-field.tsx';
import { TIME_CHARTS } from './time-charts.ts';
import { watchSettings } from './watch-settings.ts';

const CHARTS = [BATCH_SIZE_CHART, ...TIME_CHARTS];

const WINDOWS = [15, 60, MAX_WINDOW_SECONDS].map(
  (seconds) => [seconds, seconds < 60 ? `${seconds} s` : `${seconds / 60} min`] as const,
);

/** Keeps the chosen moment in view. */
function showWindow(windowSeconds: number): void {
  watchSettings.setState(({ secondsAgo }) => ({
    windowSeconds,
    secondsAgo: Math.min(secondsAgo, windowSeconds),
  }));
}

export function ChartsPanel() {
  const isUpstream = useIsUpstream();
  const charts = CHARTS.filter(({ needsEngine }) => !(isUpstream && needsEngine));
  const isPaused = useStore(watchSettings, (settings) => settings.pausedAtSeconds !== undefined);
  const windowSeconds = useStore(watchSettings, (settings) => settings.windowSeconds);
  const head = (
    <>
      <MomentField />
      <Select label="Window" className="note" value={windowSeconds} choices={WINDOWS} onChange={showWindow} />
      <Button
        look="small"
        aria-pressed={isPaused}
        onClick={() =>
          watchSettings.setState({ pausedAtSeconds: isPaused ? undefined : performance.now() / 1000 })
        }
      >
        Pause
      </Button>
    </>
  );
  return (
    <Panel title="Charts" className="charts-panel" head={head}>
      <div className="charts">
        {charts.map((spec) => (
          <LiveChart key={spec.testId} spec={spec} />
        ))}
      </div>
    </Panel>
  );
}
