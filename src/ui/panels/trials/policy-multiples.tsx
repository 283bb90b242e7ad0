import { useEffect, useRef } from 'react';

import { observeSize } from '../../browser/observe.ts';
import { formatSeconds } from '../../parts/format.ts';
import type { TrialSlots } from './trial-slots.ts';
import { onThemeChange } from '../../browser/theme.ts';
import { drawTrial, scaleOf } from './draw-trial.ts';
import './policy-multiples.css';

export interface PolicyTrial extends TrialSlots {
  readonly label: string;
  /** 0 until it has run. */
  readonly durationMs: number;
  readonly figures: readonly TrialFigure[];
}

export interface TrialFigure {
  readonly name: string;
  readonly value: string;
  /** To the first trial. */
  readonly ratio?: string;
  /** The length of its bar, 0 to 1: all trials have the same scale. */
  readonly share?: number;
  readonly color?: `--${string}`;
}

/** The slots of each trial on a common time axis, with its figures. */
export function PolicyMultiples({ trials }: { readonly trials: readonly PolicyTrial[] }) {
  const { spanMs, numLanes } = scaleOf(trials);
  return (
    <div className="multiples stack" data-testid="policy-multiples">
      {trials.map((trial) => (
        <figure key={trial.label} className="multiple">
          <figcaption>{trial.label}</figcaption>
          <TrialCanvas trial={trial} spanMs={spanMs} numLanes={numLanes} />
          <p className="multiple-axis note" aria-hidden="true">
            <span>0</span>
            <span>{trial.durationMs > 0 && formatSeconds(spanMs)}</span>
          </p>
          <TrialFigures figures={trial.figures} />
        </figure>
      ))}
    </div>
  );
}

/** The figures of each trial alone. */
export function Multiples({
  trials,
}: {
  readonly trials: readonly Pick<PolicyTrial, 'label' | 'figures'>[];
}) {
  return (
    <div className="multiples stack">
      {trials.map(({ label, figures }) => (
        <figure key={label} className="multiple">
          <figcaption>{label}</figcaption>
          <TrialFigures figures={figures} />
        </figure>
      ))}
    </div>
  );
}

function TrialFigures({ figures }: { readonly figures: readonly TrialFigure[] }) {
  return (
    <dl>
      {figures.map(({ name, value, ratio, share, color = '--ink-2' }) => (
        <div key={name} className={share === undefined ? undefined : 'multiple-measure'}>
          <dt className="muted">{name}</dt>
          <dd className="strong">{value}</dd>
          {ratio !== undefined && <dd className="muted">{ratio}</dd>}
          {share !== undefined && (
            <dd
              className="multiple-bar"
              aria-hidden="true"
              style={{ width: `${share * 100}%`, background: `var(${color})` }}
            />
          )}
        </div>
      ))}
    </dl>
  );
}

interface TrialCanvasProps {
  readonly trial: PolicyTrial;
  readonly spanMs: number;
  readonly numLanes: number;
}

function TrialCanvas({ trial, spanMs, numLanes }: TrialCanvasProps) {
  const canvasRef = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const canvas = canvasRef.current;
    const context = canvas?.getContext('2d');
    if (!canvas || !context) return undefined;
    const draw = (): void => {
      const { clientWidth: width, clientHeight: height } = canvas;
      // Setting the size clears the canvas.
      canvas.width = Math.round(width * devicePixelRatio);
      canvas.height = Math.round(height * devicePixelRatio);
      context.scale(devicePixelRatio, devicePixelRatio);
      drawTrial(context, { ...trial, spanMs, numLanes, width, height });
    };
    const releases = [observeSize(canvas, draw), onThemeChange(draw)];
    return () => {
      for (const release of releases) release();
    };
  }, [trial, spanMs, numLanes]);
  return <canvas ref={canvasRef} aria-hidden="true" />;
}
