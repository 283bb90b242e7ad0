import './compare-chart.css';
import { measuresOf } from './compare-measures.ts';
import type { Trial } from './trial.ts';

interface CompareChartProps {
  readonly trials: readonly Pick<Trial, 'label' | 'summary'>[];
  readonly latencyLimitMs: number;
}

/** The same load under each policy, side by side. The numbers are text, for screen readers. */
export function CompareChart({ trials, latencyLimitMs }: CompareChartProps) {
  return (
    <figure className="chart compare-chart" data-testid="compare-chart">
      <figcaption>
        <div>
          <h3>Policies side by side</h3> <span className="note">with ratios to {trials[0]?.label}</span>
        </div>
      </figcaption>
      <div className="compare-measures">
        {measuresOf(trials, latencyLimitMs).map(({ title, color, bars }) => (
          <div key={title}>
            <h4>{title}</h4>
            <dl>
              {bars.map(({ label, text, ratio, share }) => (
                <div key={label}>
                  <dt className="muted">{label}</dt>
                  <dd aria-hidden="true">
                    <span
                      className="compare-bar"
                      style={{ width: `${share * 100}%`, background: `var(${color})` }}
                    />
                  </dd>
                  <dd>{text}</dd>
                  <dd>{ratio}</dd>
                </div>
              ))}
            </dl>
          </div>
        ))}
      </div>
    </figure>
  );
}
