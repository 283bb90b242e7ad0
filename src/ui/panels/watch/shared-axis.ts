import { axisFrames, canvasFrames, frames } from '../../drawing/frame-scheduler.ts';
import type { RecordedView } from '../../state/serve-store.ts';
import { timeSpanOf, type TimeSpan } from './time-span.ts';
import { watchSettings } from './watch-settings.ts';

/** From the edges of a chart to its plot, CSS pixels: room for the values, and for half of the last time. */
export const INSETS = { left: 48, right: 18 } as const;
const NO_INSETS = { left: 0, right: 0 } as const;
/** They decide on the span. */
const AXIS_SETTINGS = ['paused', 'windowSeconds', 'replay', 'zoom'] as const;
/** An axis that moves is drawn again after this long, also where no message comes, ms. */
const LIVE_MS = 300;

/** A plot in its chart, CSS pixels. */
export interface Plot {
  readonly left: number;
  readonly width: number;
}

/** The same in the charts that stand above one another, so that an instant has one x. A narrow screen has no room beside the plot. */
export function plotOf(chartWidth: number): Plot {
  const { left, right } = matchMedia('(width >= 60rem)').matches ? INSETS : NO_INSETS;
  return { left, width: Math.max(1, chartWidth - left - right) };
}

type Ends = Pick<TimeSpan, 'startMs' | 'endMs'>;

/** CSS pixels from the left edge of the chart. */
export function xOf(atMs: number, { startMs, endMs }: Ends, { left, width }: Plot): number {
  return left + ((atMs - startMs) / (endMs - startMs)) * width;
}

/** The time under an x, on this tab's clock; within the span. */
export function msAt(x: number, { startMs, endMs }: Ends, { left, width }: Plot): number {
  const share = Math.min(1, Math.max(0, (x - left) / width));
  return startMs + share * (endMs - startMs);
}

/** The time axis of the page. What is drawn over it is drawn in one frame and of one moment, so that an instant has one x, live too. */
class SharedAxis {
  readonly #drawings = new Set<() => void>();
  #nowMs = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #unsubscribe: (() => void) | undefined;

  /** @returns The release. */
  join(draw: () => void): () => void {
    this.#drawings.add(draw);
    this.#unsubscribe ??= watchSettings.subscribe((settings, previous) => {
      if (AXIS_SETTINGS.some((name) => settings[name] !== previous[name])) this.requestSoon();
    });
    this.requestSoon();
    return () => {
      this.#drawings.delete(draw);
      axisFrames.cancel(draw);
      if (this.#drawings.size > 0) return;
      clearTimeout(this.#timer);
      this.#timer = undefined;
      this.#unsubscribe?.();
      this.#unsubscribe = undefined;
    };
  }

  spanOf(view: Pick<RecordedView, 'history' | 'runs' | 'requests'>): TimeSpan {
    const span = timeSpanOf(view, this.#nowMs);
    if (span.isLive) this.#timer ??= setTimeout(this.request, LIVE_MS);
    return span;
  }

  /** Draws all that has joined, up to five times a second. */
  readonly request = (): void => canvasFrames.request(this.#drawLast);

  /** Draws all that has joined after the next frame. */
  readonly requestSoon = (): void => frames.request(this.#drawLast);

  /** After the frame, so that its events are drawn too. */
  readonly #drawLast = (): void => axisFrames.request(this.#draw);

  readonly #draw = (): void => {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#drawings.size === 0) return;
    this.#nowMs = performance.now();
    for (const draw of this.#drawings) axisFrames.request(draw);
  };
}

export const sharedAxis = new SharedAxis();
