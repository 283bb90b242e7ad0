import { useIsServer } from '../../state/serve-context.ts';
import { LiveChart } from './live-chart.tsx';
import { TOKENS_HEAD } from './main-chart-heads.ts';
import { TIME_CHARTS } from './time-charts.ts';

/** The charts that aren't on the first screen. */
export function ChartGrid() {
  const isServer = useIsServer();
  const heads = TIME_CHARTS.map(({ head }) => head);
  // With a server, tokens/s are among the main charts.
  const shown = isServer ? heads.filter((head) => !head.needsEngine && head !== TOKENS_HEAD) : heads;
  return (
    <div className="charts stack roomy">
      {shown.map((head) => (
        <LiveChart key={head.testId} head={head} />
      ))}
    </div>
  );
}
