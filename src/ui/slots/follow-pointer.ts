import type { SlotBar } from '../state/slot-history.ts';
import type { TimeSpan } from '../state/time-span.ts';
import { markRequests, watchSettings } from '../watch/watch-settings.ts';
import { describeBar } from './describe-bar.ts';
import { BANDS_HEIGHT, lanesHeightOf, placeLane } from './draw-slots.ts';
import type { SlotScene } from './draw-slots.ts';
import { barAt, xOf } from './slot-layout.ts';

interface PointerElements {
  readonly field: HTMLElement;
  readonly readout: HTMLElement;
}

interface Drawn {
  readonly spanNow: () => TimeSpan;
  /** What was drawn last, if anything. */
  readonly sceneNow: () => SlotScene | undefined;
  readonly widthNow: () => number;
}

/** Shares the moment under the pointer, and marks and describes the bar there; a click traces its request. */
export function followPointer({ field, readout }: PointerElements, { spanNow, sceneNow, widthNow }: Drawn) {
  let place: { readonly x: number; readonly y: number } | undefined;

  const timeAt = (x: number): number => {
    const { startMs, endMs } = spanNow();
    return startMs + (x / widthNow()) * (endMs - startMs);
  };

  const barUnder = ({ x, y }: NonNullable<typeof place>): SlotBar | undefined => {
    const scene = sceneNow();
    if (!scene) return undefined;
    const lane = Math.floor(((y - BANDS_HEIGHT) / lanesHeightOf(scene)) * scene.numLanes);
    return barAt(scene.placed, xOf(scene.window, timeAt(x)), lane);
  };

  /** What is under a pointer that rests changes while time goes on. */
  const look = (): void => {
    if (!place) return;
    const { x } = place;
    watchSettings.setState({ cursorSeconds: timeAt(x) / 1000 });
    const bar = barUnder(place);
    const scene = sceneNow();
    field.style.cursor = bar ? 'pointer' : '';
    readout.hidden = !bar;
    markRequests(bar ? [bar.requestId] : []);
    if (!bar || !scene) return;
    readout.textContent = describeBar(bar);
    const { top } = placeLane(scene, bar.lane);
    // Its left end at the left edge, its right end at the right edge.
    const share = (x / widthNow()) * 100;
    readout.style.transform = `translate(calc(${x}px - ${share}%), calc(${top - 3}px - 100%))`;
  };

  const leave = (): void => {
    if (!place) return;
    place = undefined;
    readout.hidden = true;
    markRequests();
    watchSettings.setState({ cursorSeconds: undefined });
  };

  const listening = new AbortController();
  const options = { signal: listening.signal };
  field.addEventListener(
    'pointermove',
    ({ offsetX: x, offsetY: y }) => {
      place = { x, y };
      look();
    },
    options,
  );
  field.addEventListener('pointerleave', leave, options);
  field.addEventListener('pointercancel', leave, options);
  field.addEventListener(
    'click',
    ({ offsetX: x, offsetY: y }) => {
      const bar = barUnder({ x, y });
      if (bar) watchSettings.setState({ tracedId: bar.requestId });
    },
    options,
  );

  return {
    look,
    release: (): void => {
      listening.abort();
      leave();
    },
  };
}
