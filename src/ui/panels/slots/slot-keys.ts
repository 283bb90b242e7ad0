import { recordedView, type ServeStore } from '../../state/serve-store.ts';
import { chosenMs, timeSpanOf, wholeSpanOf } from '../watch/time-span.ts';
import { watchSettings } from '../watch/watch-settings.ts';
import { moved, scaled, zoomTo } from '../watch/zoom.ts';

/** Steps of the chosen moment and of the shown part, as shares of the shown time. */
const MOMENT_STEP = 0.01;
const PART_STEP = 0.25;

/** The keys of the timeline: arrows choose a moment, with Shift another part; plus and minus zoom. Returns the release. */
export function followKeys(field: HTMLElement, store: ServeStore): () => void {
  const listening = new AbortController();
  field.addEventListener(
    'keydown',
    (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || !act(event, store)) return;
      event.preventDefault();
    },
    { signal: listening.signal },
  );
  return () => listening.abort();
}

/** Whether the key was one of the timeline. */
function act({ key, shiftKey }: KeyboardEvent, store: ServeStore): boolean {
  const view = recordedView(store);
  const [span, whole] = [timeSpanOf(view), wholeSpanOf(view)];
  const direction = { ArrowLeft: -1, ArrowRight: 1 }[key];
  const factor = { '+': 0.5, '=': 0.5, '-': 2 }[key];
  if (direction !== undefined && shiftKey) zoomTo(moved(span, direction * PART_STEP), whole);
  else if (direction !== undefined) {
    const stepSeconds = ((span.endMs - span.startMs) / 1000) * MOMENT_STEP;
    const secondsAgo = watchSettings.getState().secondsAgo - direction * stepSeconds;
    watchSettings.setState({ secondsAgo: Math.max(0, secondsAgo) });
  } else if (factor === undefined) return false;
  else zoomTo(scaled(span, chosenMs(span) ?? (span.startMs + span.endMs) / 2, factor), whole);
  return true;
}
