import type { TimeWindow } from './slot-layout.ts';

/** How far beyond now running bars are drawn, ms. For this long the compositor moves them without a redraw. */
export const LEAD_MS = 300;

/** The window with some time more at its end, at the same scale. */
export function withLead(window: TimeWindow): TimeWindow {
  const { startMs, endMs, width } = window;
  const leadWidth = Math.max(1, Math.round((LEAD_MS / (endMs - startMs)) * width));
  const leadEndMs = endMs + (leadWidth / width) * (endMs - startMs);
  return { startMs, endMs: leadEndMs, untilMs: leadEndMs, width: width + leadWidth };
}

/** Moves what was drawn in the longer window while time goes on. In steps of whole device pixels, because names blur in between. */
export function slide(
  element: HTMLElement,
  window: TimeWindow,
  lead: TimeWindow,
  onEnd: () => void,
): Animation {
  const distance = lead.width - window.width;
  const motion = element.animate(
    { transform: ['translateX(0)', `translateX(${-distance}px)`] },
    {
      duration: lead.endMs - window.endMs,
      easing: `steps(${Math.max(1, Math.round(distance * devicePixelRatio))})`,
      fill: 'forwards',
    },
  );
  // The time of the drawing; by default the motion would start a frame late.
  motion.startTime = window.endMs;
  motion.addEventListener('finish', onEnd);
  return motion;
}
