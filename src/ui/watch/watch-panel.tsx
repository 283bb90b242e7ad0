import { BATCH_SIZE_CHART } from './batch-size-chart.ts';
import { FiguresRow } from './figures-row.tsx';
import { LATENCY_CHART } from './latency-chart.ts';
import { LiveChart } from './live-chart.tsx';
import './watch-panel.css';

export function WatchPanel() {
  return (
    <section className="watch" aria-label="Live figures">
      <FiguresRow />
      <div className="charts">
        <LiveChart spec={BATCH_SIZE_CHART} />
        <LiveChart spec={LATENCY_CHART} />
      </div>
    </section>
  );
}
