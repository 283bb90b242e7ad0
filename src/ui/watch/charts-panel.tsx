import { useStore } from 'zustand';

import { useServeView } from '../state/serve-context.ts';
import { BATCH_SIZE_CHART } from './batch-size-chart.ts';
import type { ChartSpec } from './chart-spec.ts';
import { LiveChart } from './live-chart.tsx';
import {
  E2E_CHART,
  FINISH_CHART,
  ITL_CHART,
  KV_CACHE_CHART,
  QUEUE_WAIT_CHART,
  TOKENS_CHART,
  TTFT_CHART,
  UTILIZATION_CHART,
} from './time-charts.ts';
import './charts-panel.css';
import { MomentField } from './moment-field.tsx';
import { watchSettings, WINDOWS_SECONDS } from './watch-settings.ts';

const CHARTS: readonly ChartSpec[] = [
  BATCH_SIZE_CHART,
  TOKENS_CHART,
  TTFT_CHART,
  ITL_CHART,
  QUEUE_WAIT_CHART,
  E2E_CHART,
  UTILIZATION_CHART,
  KV_CACHE_CHART,
  FINISH_CHART,
];

/** Of steps and slots, which an upstream keeps to itself. */
const ENGINE_CHARTS: ReadonlySet<ChartSpec> = new Set([BATCH_SIZE_CHART, UTILIZATION_CHART, KV_CACHE_CHART]);

/** A moment that was chosen stays in view. */
function showWindow(windowSeconds: number): void {
  watchSettings.setState(({ secondsAgo }) => ({
    windowSeconds,
    secondsAgo: Math.min(secondsAgo, windowSeconds),
  }));
}

export function ChartsPanel() {
  const isUpstream = useServeView(({ status }) => status.backend?.name === 'upstream');
  const charts = isUpstream ? CHARTS.filter((spec) => !ENGINE_CHARTS.has(spec)) : CHARTS;
  const isPaused = useStore(watchSettings, (settings) => settings.pausedAtSeconds !== undefined);
  const windowSeconds = useStore(watchSettings, (settings) => settings.windowSeconds);
  return (
    <section className="panel charts-panel" aria-labelledby="charts-title">
      <div className="panel-head">
        <h2 id="charts-title">Charts</h2>
        <MomentField />
        <label>
          Window{' '}
          <select value={windowSeconds} onChange={(event) => showWindow(Number(event.target.value))}>
            {WINDOWS_SECONDS.map((seconds) => (
              <option key={seconds} value={seconds}>
                {seconds < 60 ? `${seconds} s` : `${seconds / 60} min`}
              </option>
            ))}
          </select>
        </label>
        <button
          type="button"
          className="button-small"
          aria-pressed={isPaused}
          onClick={() =>
            watchSettings.setState({ pausedAtSeconds: isPaused ? undefined : performance.now() / 1000 })
          }
        >
          Pause
        </button>
      </div>
      <div className="charts">
        {charts.map((spec) => (
          <LiveChart key={spec.testId} spec={spec} />
        ))}
      </div>
    </section>
  );
}
