import type { OpenTab } from '../../../client/index.ts';
import type { SlotBar } from '../../state/slot-history.ts';
import { highlightRequests, watchSettings } from '../watch/watch-settings.ts';
import { msAt } from '../watch/shared-axis.ts';
import { describeBar } from './describe-bar.ts';
import { BANDS_HEIGHT, laneHeightOf, placeLane, type SlotScene } from './draw-slots.ts';
import { barAt } from './slot-layout.ts';

interface Timeline {
  /** Undefined until the first drawing. */
  readonly scene: SlotScene | undefined;
  readonly tabs: readonly OpenTab[];
}

interface Place {
  readonly x: number;
  readonly y: number;
}

/** Shares the moment under the pointer, and highlights and describes the bar there. A click traces its request. */
export class SlotPointer {
  readonly #field: HTMLElement;
  readonly #readout: HTMLElement;
  readonly #timeline: Timeline;
  readonly #listening = new AbortController();
  #place: Place | undefined;

  constructor(field: HTMLElement, readout: HTMLElement, timeline: Timeline) {
    this.#field = field;
    this.#readout = readout;
    this.#timeline = timeline;
    const { signal } = this.#listening;
    field.addEventListener('pointermove', (event) => this.#move(event), { signal });
    field.addEventListener('pointerleave', () => this.#leave(), { signal });
    field.addEventListener('pointercancel', () => this.#leave(), { signal });
    field.addEventListener('click', (event) => this.#trace(event), { signal });
  }

  /** Call it after each drawing: the bar under a still pointer changes while time goes on. */
  update(): void {
    const { scene } = this.#timeline;
    if (!this.#place || !scene) return;
    const { x } = this.#place;
    watchSettings.setState({ cursorSeconds: msAt(x, scene.window, scene.window) / 1000 });
    const bar = this.#barUnder(this.#place);
    this.#field.style.cursor = bar ? 'pointer' : '';
    this.#readout.hidden = !bar;
    highlightRequests(bar ? [bar.requestId] : []);
    if (bar) this.#describe(bar, x);
  }

  release(): void {
    this.#listening.abort();
    this.#leave();
  }

  #move(event: PointerEvent): void {
    this.#place = this.#placeOf(event);
    this.update();
  }

  /** In the field, whatever part of its lanes is scrolled into view. */
  #placeOf({ clientX, clientY }: MouseEvent): Place {
    const { left, top } = this.#field.getBoundingClientRect();
    return { x: clientX - left, y: clientY - top };
  }

  #leave(): void {
    if (!this.#place) return;
    this.#place = undefined;
    this.#readout.hidden = true;
    highlightRequests();
    watchSettings.setState({ cursorSeconds: undefined });
  }

  #trace(event: MouseEvent): void {
    const bar = this.#barUnder(this.#placeOf(event));
    if (bar) watchSettings.setState({ tracedId: bar.requestId });
  }

  #barUnder({ x, y }: Place): SlotBar | undefined {
    const { scene } = this.#timeline;
    if (!scene) return undefined;
    const lane = Math.floor((y - BANDS_HEIGHT + scene.scrollTop) / laneHeightOf(scene));
    return barAt(scene.placed, x, lane);
  }

  #describe(bar: SlotBar, x: number): void {
    const { scene } = this.#timeline;
    if (!scene) return;
    this.#readout.textContent = describeBar(bar, this.#timeline.tabs);
    const { top } = placeLane(scene, bar.lane);
    // Its left end at the left edge, its right end at the right edge.
    const share = ((x - scene.window.left) / scene.window.width) * 100;
    this.#readout.style.transform = `translate(calc(${x}px - ${share}%), calc(${top - 3}px - 100%))`;
  }
}
