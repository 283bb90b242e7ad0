import { useId } from 'react';

import { useIsServer } from '../../state/serve-context.ts';
import './charts.css';
import { LiveChart } from './live-chart.tsx';
import {
  BATCH_SIZE_HEAD,
  LATENCY_HEAD,
  TIMED_LATENCY_HEAD,
  TOKENS_HEAD,
  SERVER_LATENCY_HEAD,
} from './main-chart-heads.ts';

interface MainChartsProps {
  /** In place of the charts’ own hints. */
  readonly emptyText?: string;
  /** The slots below have the times. */
  readonly hasSlots?: boolean;
  readonly isRecording?: boolean;
}

/** Batch size and latency, side by side over one time axis. On a narrow screen, a strip that stays in view. */
export function MainCharts({ emptyText, hasSlots = true, isRecording = false }: MainChartsProps) {
  const titleId = useId();
  const isServer = useIsServer();
  const title = isServer ? 'Tokens/s and latency' : 'Batch size and latency';
  const heads = isServer
    ? [TOKENS_HEAD, SERVER_LATENCY_HEAD]
    : [BATCH_SIZE_HEAD, hasSlots ? LATENCY_HEAD : TIMED_LATENCY_HEAD];
  return (
    <section className="main-charts stack tight" aria-labelledby={titleId}>
      <h2 className="visually-hidden" id={titleId}>
        {title}
        {isRecording && ' of a recording'}
      </h2>
      {heads.map((head) => (
        <LiveChart
          key={head.testId + String(isServer)}
          head={head}
          {...(emptyText !== undefined && { emptyText })}
        />
      ))}
    </section>
  );
}
